# SPDX-License-Identifier: MIT
"""Policies written in Python: the bytes of the same policy in C, mistakes in tables and hooks, plugins."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import INCAST, ROOT, SCENARIOS, SANITIZED

import collwire as cw
from collwire import _contract as ct
from collwire.policy import Param, Policy, Preset, Red

sys.path.insert(0, str(ROOT / "examples" / "policy"))
import aimd  # noqa: E402  # pylint: disable=wrong-import-position


PLUGINS = tempfile.TemporaryDirectory()  # programs that later tests start load the plugin too


def plugin(folder):
    """examples/policy/aimd.c as a shared library, under another name of the policy."""
    source = (ROOT / "examples/policy/aimd.c").read_text().replace('.name = "aimd"', '.name = "aimd_in_c"')
    pathlib.Path(folder, "aimd.c").write_text(source)
    file = pathlib.Path(folder, "aimd.so")
    subprocess.run(["cc", "-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT}/include", f"{folder}/aimd.c", "-o", str(file)], check=True)
    return file


def results(metrics):
    return {key: value for key, value in metrics.items() if key not in ("scenario", "explain", "reasons")}


class Prototypes(unittest.TestCase):
    @unittest.skipUnless(shutil.which("cc"), "there is no compiler")
    def test_the_results_of_the_same_policy_in_c(self):
        cw.add_plugin(plugin(PLUGINS.name))
        self.assertIn("aimd_in_c", cw.policies())
        for scenario in (INCAST, SCENARIOS / "collectives/allreduce-1d.json"):
            for gain in (1, 0.3):
                runs = [cw.run(scenario, set={"cc": {"kind": kind, "gain": gain}}) for kind in ("aimd", "aimd_in_c")]
                self.assertEqual(*(results(run.metrics) for run in runs))
                self.assertTrue(runs[0].metrics.ecn.marked_packets or scenario is not INCAST)

    def test_compared_with_built_in_policies(self):
        found = cw.compare(INCAST, ["none", aimd.Aimd, "dcqcn"], seeds=2)
        self.assertEqual(found.names, ["none", "aimd", "dcqcn"])
        self.assertEqual([row["seed"] for row in found.rows], [1, 2] * 3)
        self.assertEqual(found.rows[4]["sim_time_ns"], cw.compare(INCAST, ["dcqcn"]).rows[0]["sim_time_ns"])
        self.assertEqual(found.result("aimd", 2).status, "completed")
        with self.assertRaisesRegex(cw.Error, r"cw\.compare"):
            cw.sweep(INCAST, policies=[aimd.Aimd])

    def test_the_statistics_of_other_comparisons(self):
        """With built-in policies beside it: the same rows and statistics of these as the program's, and its files."""
        with tempfile.TemporaryDirectory() as folder:
            found = cw.compare(INCAST, ["none", "dcqcn", aimd.Aimd], seeds=5, out=folder)
            want = cw.compare(INCAST, ["none", "dcqcn"], seeds=5)
            for part in ("rows", "statistics"):
                ours = [{**one, "best": None} for one in found.document[part] if one["cc"] != "aimd"]
                self.assertEqual(ours, [{**one, "best": None} for one in want.document[part]])
            self.assertEqual({key: found.document[key] for key in ("schema", "name", "scenarios", "baseline", "seeds")},
                             {key: want.document[key] for key in ("schema", "name", "scenarios", "baseline", "seeds")})
            mine = next(one for one in found.statistics if one["cc"] == "aimd")
            times = [row["sim_time_ns"] for row in found.rows if row["policy"] == "aimd"]
            self.assertAlmostEqual(mine["sim_time_ns.mean"], sum(times) / 5)
            self.assertEqual(mine["seeds"], 5)
            self.assertIsNotNone(found.best)
            self.assertEqual(cw.load(folder).document, found.document)
            self.assertEqual(cw.load(pathlib.Path(folder, "incast", "aimd-seed2")).policy, "aimd")
            self.assertEqual(len(pathlib.Path(folder, "compare.csv").read_text().splitlines()), 16)
            self.assertIn("aimd", found.report().html)
            self.assertTrue(pathlib.Path(folder, "report.html").exists())
            cw.compare(INCAST, [aimd.Aimd], out=folder)
            self.assertFalse(pathlib.Path(folder, "report.html").exists()) # which showed another comparison
        with self.assertRaisesRegex(cw.ScenarioError, "baseline"):
            cw.compare(INCAST, [aimd.Aimd], baseline="none")
        with self.assertRaisesRegex(cw.ScenarioError, "twice"):
            cw.compare(INCAST, [aimd.Aimd, "aimd"])
        with self.assertRaisesRegex(cw.ScenarioError, "settings"):
            cw.compare(INCAST, [aimd.Aimd, "window{k=0.5}"])

    def test_timers_signals_and_series(self):
        seen = set()

        class Timed(Policy):
            """half of the line rate after a timer"""

            name = "timed"
            needs = Policy.NEEDS_ECN | Policy.NEEDS_CNP
            observed = ["rate_bps"]
            state = [("signals", int)]
            presets = [Preset(red=Red(5000, 5001))]

            def init(self, cc, now):
                cc.timer_at_ps[0] = now + 10_000_000

            def on_post(self, cc, post):
                seen.add(("post", post.bytes))

            def on_send(self, cc, wire_bytes, now):
                seen.add("send")

            def on_signal(self, cc, signal):
                cc.state.signals += 1
                seen.add(("signal", signal.kind))

            def on_timer(self, cc, timer, now):
                seen.add(("timer", timer))
                cc.rate_bps = cc.env.line_bps // 2
                cc.timer_at_ps[0] = self.NEVER

            def observe(self, cc):
                return [cc.rate_bps]

        cw.add_policy(Timed)
        result = cw.run(INCAST, set={"cc": {"kind": "timed"}, "report.sample": "20us"})
        self.assertTrue(result.completed)
        self.assertLessEqual({("post", 1000000), "send", ("signal", Policy.SIGNAL_CNP), ("timer", 0)}, seen)
        self.assertIn("rate_bps", result.files["series.csv"])


class Mistakes(unittest.TestCase):
    def test_a_hook_that_fails_ends_the_run(self):
        armed = [] # not in the trial

        class Fails(Policy):
            """fails"""

            name = "fails"
            state = [("acks", int)]

            def init(self, cc, now):
                cc.cwnd_bytes = 4096

            def on_ack(self, cc, ack):
                cc.state.acks += 1
                if armed and cc.state.acks > 100:
                    raise ZeroDivisionError("in a hook")

        cw.add_policy(Fails)
        armed.append(True)
        with self.assertRaisesRegex(cw.PolicyError, "policy fails: ZeroDivisionError: in a hook") as caught:
            cw.run(INCAST, set={"cc": {"kind": "fails"}})
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        self.assertTrue(cw.run(INCAST).completed) # others run on

    def test_a_hook_that_fails_in_the_trial(self):
        class Wrong(Policy):
            """wrong"""

            name = "wrong"

            def init(self, cc, now):
                cc.cwnd = cc.nothing

        with self.assertRaisesRegex(cw.PolicyError, "nothing"):
            cw.add_policy(Wrong)

    def test_outputs_that_the_contract_forbids(self):
        class Zero(Policy):
            """a rate of nothing"""

            name = "zero"

            def init(self, cc, now):
                cc.rate_bps = 0

        with self.assertRaisesRegex(cw.ScenarioError, "rate"):
            cw.add_policy(Zero)

    def test_tables(self):
        def made(**more):
            return type("P", (Policy,), {"__doc__": "a policy", "init": lambda self, cc, now: None, **more})

        for policy, word in ((made(name=""), "name"), (made(name="dcqcn"), "already"),
                             (made(name="p1", params=[Param("x", "ratio", "2", "help", max="1")]), "x"),
                             (type("Q", (Policy,), {"name": "q"}), "init")):
            with self.assertRaisesRegex(cw.ScenarioError, word):
                cw.add_policy(policy)
        with self.assertRaisesRegex(cw.ScenarioError, "no such file"):
            cw.add_plugin("/nowhere.so")
        with self.assertRaises(cw.ScenarioError):
            cw.run(INCAST, set={"cc": {"kind": "aimd", "gain": 1000}})


class Contract(unittest.TestCase):
    def test_constants_are_those_of_the_header(self):
        header = (ROOT / "include/collwire/cc.h").read_text()
        self.assertEqual(int(re.search(r"#define CC_VERSION (\d+)", header).group(1)), ct.VERSION)
        for name, value in re.findall(r"CC_(NEEDS_\w+) = (\d+)", header):
            self.assertEqual(getattr(ct, name, int(value)), int(value), name)
        signals = re.findall(r"^    CC_(SIGNAL_\w+),? +//", header, re.MULTILINE)
        self.assertEqual([getattr(ct, name) for name in signals], list(range(6)))

    @unittest.skipUnless(shutil.which("cc"), "there is no compiler")
    def test_fields_stand_where_c_has_them(self):
        structs = {"cc_env": ct.Env, "cc_ack": ct.Ack, "cc_signal": ct.Signal, "cc_post": ct.Post, "cc": ct.Cc, "cc_profile": ct.Profile,
                   "cc_preset": ct.PresetStruct, "cc_ops": ct.Ops, "cc_helpers": ct.Helpers, "cc_plugin": ct.Plugin, "param": ct.ParamStruct}
        other = {("cc_ack", "hop_records"): "hops", ("cc", "params_pointer"): "params", ("cc", "env_pointer"): "env", ("param", "default"): "def"}
        rows, want = [], []
        for name, struct in structs.items():
            fields = ct.CcFields if struct is ct.Cc else struct  # whose own fields check what is written
            for field in struct._fields_:
                rows.append(f'printf("%zu\\n", offsetof(struct {name}, {other.get((name, field[0]), field[0])}));')
                want.append(getattr(fields, field[0]).offset)
        rows.append('printf("%zu\\n", offsetof(struct cc, priv));')
        want.append(ct.PRIV)
        program = "#include <stdio.h>\n#include <collwire/cc.h>\nint main(void) {" + "\n".join(rows) + "return 0;}\n"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cc", "-std=c11", f"-I{ROOT}/include", "-x", "c", "-", "-o", f"{folder}/a"], input=program, text=True, check=True)
            got = subprocess.run([f"{folder}/a"], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual([int(text) for text in got], want)


if __name__ == "__main__":
    unittest.main()
