# SPDX-License-Identifier: MIT
"""Typed scenarios: keys have docstrings, all scenarios become typed objects and plain again, and
errors are named with their paths."""
import pathlib
import tempfile
import unittest

from common import INCAST, SCENARIOS, read

import collwire as cw
from collwire import scenarios as sc

FILES = [path for path in sorted(SCENARIOS.rglob("*.json")) if path.name != "schema.json" and "topology" in read(path)]


class Generated(unittest.TestCase):
    def test_keys_have_text_unit_and_default(self):
        doc = sc.IncastJob.__doc__
        self.assertIn("receiver: rank that all send to. a whole number. default 0", doc)
        self.assertRegex(" ".join(doc.split()), r'bytes: of each sender \[1B \.\. 1PB\]\. bytes: a number, "128MB" or "32MiB"\. required')
        every = [name for name in sc.__all__ if isinstance(getattr(sc, name), type)]
        self.assertGreater(len(every), 80)
        for name in every:
            self.assertTrue(getattr(sc, name).__doc__, name)


class Objects(unittest.TestCase):
    def test_all_scenarios_to_objects_and_back(self):
        self.assertGreater(len(FILES), 100)
        for path in FILES:
            plain = {key: value for key, value in read(path).items() if key != "$schema"}
            self.assertEqual(cw.Scenario.load(path).to_dict(), plain, path)

    def test_kinds_become_their_classes(self):
        scenario = cw.Scenario.from_dict({"topology": {"dims": [{"kind": "ring", "size": 4}]}, "cc": {"kind": "swift"},
                                          "transport": {"mtu": "1KB"}, "workload": [{"kind": "incast"}, {"kind": "poisson"}]})
        self.assertIsInstance(scenario.topology.dims[0], sc.RingDim)
        self.assertIsInstance(scenario.cc, sc.SwiftCc)
        self.assertIsInstance(scenario.transport, sc.RoceTransport)
        self.assertEqual([type(job) for job in scenario.workload], [sc.IncastJob, sc.PoissonJob])

    def test_an_object_runs_as_its_file(self):
        scenario = cw.Scenario(
            name="incast", topology=sc.Topology(dims=[sc.SwitchDim(size=9)]), switch=sc.Switch(buffer="2MB"),
            workload=sc.IncastJob(receiver=8, bytes="1MB"), cc=sc.DcqcnCc())
        plain = {"name": "incast", "topology": {"dims": [{"kind": "switch", "size": 9}]}, "switch": {"buffer": "2MB"},
                 "workload": {"kind": "incast", "receiver": 8, "bytes": "1MB"}, "cc": {"kind": "dcqcn"}}
        self.assertEqual(scenario.to_dict(), plain)
        self.assertEqual(cw.run(scenario).files["metrics.json"], cw.run(plain).files["metrics.json"])

    def test_a_key_that_is_not_there(self):
        with self.assertRaisesRegex(AttributeError, 'Scenario has no key "swtich"; did you mean "switch"'):
            cw.Scenario().swtich = 1
        with self.assertRaises(TypeError):
            sc.Switch(bufer="1MB")

    def test_files_of_a_scenario_are_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder)
            (where / "flows.csv").write_text("src,dst,bytes,start\n0,1,1000,0\n")
            scenario = {"name": "f", "topology": {"dims": [{"kind": "switch", "size": 4}]}, "workload": {"kind": "flows", "file": "flows.csv"}}
            cw.Scenario.from_dict(scenario).save(where / "job.json")
            self.assertTrue(cw.run(cw.Scenario.load(where / "job.json")).completed)
            self.assertTrue(cw.compare(cw.Scenario.load(where / "job.json"), ["none"]).status == "completed")
            self.assertEqual(sorted(path.name for path in where.iterdir()), ["flows.csv", "job.json"])


class Errors(unittest.TestCase):
    def test_all_errors_with_their_paths(self):
        found = cw.validate(INCAST, set={"cc.kind": "dcqn", "workload.bytes": "1X", "switch.buffers": "1MB"})
        self.assertFalse(found)
        self.assertEqual(sorted(error.path for error in found.errors), ["cc.kind", "switch.buffers", "workload.bytes"])
        with self.assertRaises(cw.ScenarioError) as caught:
            cw.run(INCAST, set={"cc.kind": "dcqn", "workload.bytes": "1X"})
        paths, texts = zip(*caught.exception.errors)
        self.assertEqual(set(paths), {"cc.kind", "workload.bytes"})
        self.assertIn('unknown policy "dcqn"; did you mean "dcqcn"?', texts)
        self.assertIsInstance(caught.exception, ValueError)

    def test_what_is_no_scenario(self):
        for wrong in ("/nowhere.json", "{", {"name": 3}, {}):
            with self.assertRaises(cw.ScenarioError, msg=wrong) as caught:
                cw.run(wrong)
            self.assertTrue(caught.exception.errors)
            self.assertFalse(cw.validate(wrong))
        for command in (cw.compare, cw.sweep):
            with self.assertRaises(cw.ScenarioError) as caught:
                list(command({"name": "x"}, ["none"]).rows) if command is cw.compare else command({"name": "x"}).run()
            self.assertIn("topology", str(caught.exception))

    def test_an_unknown_key_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "job.json")
            file.write_text('{"name": "a", "topologie": {}, "workload": {"kind": "incast", "bytes": "1X"}}')
            with self.assertRaises(cw.ScenarioError) as caught:
                cw.Scenario.load(file)
            self.assertLessEqual({"topologie", "workload.bytes"}, {error.path for error in caught.exception.errors})

    def test_what_a_valid_one_costs(self):
        found = cw.validate(INCAST)
        self.assertTrue(found)
        self.assertGreater(found.cost.packet_hops, 1000)
        self.assertEqual(found.resolved["seed"], 1)
        self.assertIn("9 ranks", found.text)
        self.assertEqual(set(found.advice), {"warnings", "auto"})


if __name__ == "__main__":
    unittest.main()
