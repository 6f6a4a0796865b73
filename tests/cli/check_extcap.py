#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check `collwire extcap`: its installation, what it answers to Wireshark, and captures driven by tshark.

usage: check_extcap.py ROOT, with the executable in $COLLWIRE.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT, COLLWIRE = os.path.abspath(sys.argv[1]), os.path.abspath(os.environ["COLLWIRE"])
INCAST = {"name": "incast", "description": "Four {senders}\nto one", "topology": {"dims": [{"kind": "switch", "size": 5}]},
          "workload": {"kind": "incast", "receiver": 4, "bytes": "40KB"}}
SLOW = dict(INCAST, name="slow", workload={"kind": "incast", "receiver": 4, "bytes": "10MB"},
            capture=[{"at": "rank4", "file": "slow.pcapng"}])
BAD = {"name": "bad", "topology": {"dims": [{"kind": "swich", "size": 5}]}, "workload": {"kind": "incast"}}
EXTCAP = (".config/wireshark/extcap/collwire", ".local/lib/wireshark/extcap/collwire")
PLUGINS = [f".local/lib/wireshark/plugins/{name}.lua" for name in ("collwire", "collwire_summary", "collwire_uec")]
PROFILE = ".config/wireshark/profiles/collwire"


class Home:
    """A user with scenarios."""

    def __init__(self, folder):
        self.home, self.scenarios, self.tmp = (os.path.join(folder, name) for name in ("it's home", "my scenarios", "tmp"))
        for made in (self.home, os.path.join(self.scenarios, "sub"), self.tmp):
            os.makedirs(made)
        for name, scenario in {"incast": INCAST, "sub/slow": SLOW, "bad": BAD}.items():
            self.write(f"{self.scenarios}/{name}.json", json.dumps(scenario))
        self.write(f"{self.scenarios}/broken.json", '{"topology": ')
        self.write(f"{self.scenarios}/schema.json", '{"type": "object"}')
        self.write(f"{self.scenarios}/.hidden.json", json.dumps(INCAST))
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "WIRESHARK_"))}
        self.environment = {**clean, "HOME": self.home, "TMPDIR": self.tmp, "COLLWIRE_SHARE": os.path.join(ROOT, "net", "capture")}

    @staticmethod
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, *words, **more):
        return subprocess.run(words, capture_output=True, text=True, env={**self.environment, **more}, timeout=120)

    def extcap(self, *words, **more):
        return self.run(COLLWIRE, "extcap", *words, **more)

    def call(self, *words):
        """As Wireshark calls the program that install has written."""
        return self.run(os.path.join(self.home, EXTCAP[0]), *words)

    def install(self):
        run = self.extcap("install", "--scenarios", self.scenarios)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def tree(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.home)
                      for folder, _, names in os.walk(self.home) for name in names)

    def tshark(self, scenario, *words, options=(), **more):
        settings = [word for key, value in (("scenario", scenario), *options) for word in ("-o", f"extcap.collwire.{key}:{value}")]
        return self.run("tshark", "-n", "-i", "collwire", *settings, *words, **more)


def check_install(user):
    empty = user.tree()
    said = user.install()
    files = user.tree()
    assert all(name in files for name in (*EXTCAP, *PLUGINS)), files
    assert {f"{PROFILE}/{name}" for name in ("preferences", "colorfilters", ".collwire")} <= set(files), files
    assert all(os.path.join(user.home, name) in said for name in (*EXTCAP, *PLUGINS, PROFILE)), said
    assert all(os.path.realpath(os.path.join(user.home, name)) ==
               os.path.join(ROOT, "net/capture/wireshark", os.path.basename(name)) for name in PLUGINS)
    assert all(os.access(os.path.join(user.home, name), os.X_OK) for name in EXTCAP)
    user.install()
    assert user.tree() == files, "a second time"
    user.write(f"{user.home}/{PROFILE}/recent", "by Wireshark\n")
    user.write(f"{user.home}/.config/wireshark/extcap/other", "of another\n")
    assert user.extcap("uninstall").returncode == 0
    assert user.tree() == empty + [".config/wireshark/extcap/other"], user.tree()
    assert not os.path.exists(os.path.join(user.home, PROFILE))
    run = user.extcap("uninstall")
    assert run.returncode == 0 and "Nothing" in run.stdout

    for name in (*EXTCAP, *PLUGINS, f"{PROFILE}/preferences"):
        path = os.path.join(user.home, name)
        user.write(path, "mine\n")
        before = user.tree()
        run = user.extcap("install", "--scenarios", user.scenarios)
        assert run.returncode == 2 and "not from collwire" in run.stderr and user.tree() == before, name
        assert user.extcap("uninstall").returncode == 0 and user.tree() == before, name
        os.remove(path)
        if name.startswith(PROFILE):
            os.rmdir(os.path.dirname(path))
    for words in (("install", "--scenarios", f"{user.scenarios}/none"), ("install", "--scenarios", f"{user.scenarios}/bad.json"),
                  ("install", "more"), (), ("what",)):
        run = user.extcap(*words)
        assert run.returncode == 2 and run.stderr.count("\n") == 1, (words, run.stderr)
    assert user.extcap("install", "--scenarios", user.scenarios, HOME="").returncode == 2
    elsewhere = os.path.join(user.home, "settings")
    assert user.extcap("install", "--scenarios", user.scenarios, XDG_CONFIG_HOME=elsewhere).returncode == 0
    assert os.path.exists(f"{elsewhere}/wireshark/extcap/collwire") and os.path.exists(f"{elsewhere}/wireshark/profiles/collwire")
    assert user.extcap("uninstall", XDG_CONFIG_HOME=elsewhere).returncode == 0
    assert user.extcap("install", "--scenarios", user.scenarios, COLLWIRE_SHARE=user.tmp).stdout.endswith(
        "puts them there.\n"), "without the plugin"
    assert user.extcap("uninstall").returncode == 0


def check_answers(user):
    user.install()
    run = user.call("--extcap-interfaces", "--extcap-version=4.0")
    assert run.returncode == 0 and run.stdout == (
        "extcap {version=" + user.run(COLLWIRE, "--version").stdout.split()[-1] + "}{display=collwire}\n"
        "interface {value=collwire}{display=packets of a simulation}\n"), run.stdout
    run = user.call("--extcap-interface", "collwire", "--extcap-dlts")
    assert run.stdout == "dlt {number=1}{name=EN10MB}{display=Ethernet}\n"
    run = user.call("--extcap-config", "--extcap-interface", "collwire")
    assert run.returncode == 0 and not run.stderr, run.stderr
    assert re.findall(r"^value {arg=0}{value=([^}]*)}{display=([^}]*)}{default=(.*)}$", run.stdout, re.M) == [
        ("bad", "bad: scenario of collwire", "true"),
        ("broken", "broken: " + re.search(r"cannot be read: [^{}]*", run.stdout)[0], "false"),
        ("incast", "incast: Four (senders) to one", "false"), ("sub-slow", "sub-slow: Four (senders) to one", "false")], run.stdout
    calls = re.findall(r"^arg {number=(\d)}{call=--(\w+)}", run.stdout, re.M)
    assert calls == [(str(i), name) for i, name in enumerate(("scenario", "place", "policy", "pace", "changes", "filter"))], calls
    assert "value {arg=2}{value=dcqcn}" in run.stdout and "value {arg=2}{value=cubic}" in run.stdout
    filters = {"udp port 4791": "", "udp prot": "syntax error"}
    for text, wrong in filters.items():
        run = user.call("--extcap-interface", "collwire", "--extcap-capture-filter", text)
        assert run.returncode == 0 and (wrong in run.stdout if wrong else not run.stdout), run.stdout
    assert user.call("--extcap-interfaces", "--extcap-of-a-later-version").returncode == 0
    for words, text in {("--extcap-config", "--extcap-interface", "none"): "--extcap-interface none",
                        ("--extcap-config",): "--extcap-interface is missing",
                        ("--capture", "--extcap-interface", "collwire", "--scenario", "none"): "none is not a scenario",
                        ("--capture", "--extcap-interface", "collwire", "--scenarios", user.tmp): "there are no scenarios in",
                        ("--capture", "--extcap-interface", "collwire", "--scenario", "incast"): "--capture needs --fifo",
                        ("--extcap-config", "--wrong"): 'unknown option "--wrong"',
                        ("--extcap-config", "--extcap-interface"): "--extcap-interface needs an argument"}.items():
        run = user.call(*words)
        assert run.returncode == 2 and text in run.stderr and run.stderr.count("\n") == 1, run.stderr


def frames(user, path):
    run = user.run("tshark", "-n", "-r", path, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len",
                   "-e", "frame.interface_name", "-e", "infiniband.bth.psn")
    return run.stdout.splitlines()


def capture(user, interface, *words, options=()):
    path = os.path.join(user.tmp, "live.pcapng")
    run = user.tshark(interface, "-w", path, *words, options=options)
    assert run.returncode == 0, run.stderr
    rows = frames(user, path)
    os.remove(path)
    return rows


def recorded(user, name, place, *words):
    out = os.path.join(user.tmp, "out")
    run = user.run(COLLWIRE, "run", f"{user.scenarios}/{name}.json", "--quiet", "--out", out, "--capture", place, "-w", "x.pcapng",
                   *words)
    assert run.returncode == 0, run.stderr
    rows = frames(user, os.path.join(out, "x.pcapng"))
    user.run("rm", "-r", out)
    return rows


def check_captures(user):
    """What tshark gets is what a run writes."""
    listed = user.run("tshark", "-D").stdout
    assert listed.count(" collwire") == 1 and " collwire (" in listed, listed
    same = [((), "dim0.sw0", ()), ((("place", "rank4"),), "rank4", ()),
            ((("place", "rank0,rank4"), ("policy", "dcqcn")), "rank0,rank4", ("--set", "cc.kind=dcqcn")),
            ((("policy", "hpcc"), ("changes", "workload.bytes=20KB; seed=7")), "dim0.sw0",
             ("--set", "workload.bytes=20KB", "--seed", "7", "--set", "cc.kind=hpcc"))]
    for options, place, words in same:
        rows = capture(user, "incast", options=options)
        assert len(rows) > 50 and rows == recorded(user, "incast", place, *words), (options, len(rows))
    rows = capture(user, "incast", "-f", "udp port 4791 and greater 500", options=[("filter", "src host 10.0.0.2")])
    assert len(rows) == 20 and all(int(row.split("\t")[1]) > 500 for row in rows), rows
    assert not os.listdir(user.tmp), "temporary folders are removed"


def check_errors(user):
    wrong = {("bad", ()): 'unknown topology kind "swich"', ("broken", ()): "not JSON",
             ("incast", (("place", "nowhere"),)): 'no place is called "nowhere"',
             ("incast", (("pace", "quick"),)): '--pace: "quick"',
             ("incast", (("changes", "nonsense"),)): '"nonsense" is not PATH=VALUE',
             ("incast", (("changes", "switch.bufer=1MB"),)): "switch.bufer",
             ("incast", (("filter", "udp prot"),)): "udp prot"}
    for (interface, options), text in wrong.items():
        run = user.tshark(interface, options=options)
        assert run.returncode != 0 and text in run.stderr, f"{interface} {options}: {run.returncode} {run.stderr}"
    assert not os.listdir(user.tmp), "temporary folders are removed"


def processes(user):
    """Those that run this user's scenarios."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"extcap" in words and user.scenarios.encode() in words:
            found.append(number)
    return found


def ended(user):
    until = time.time() + 10
    while processes(user) and time.time() < until:
        time.sleep(0.05)
    return not processes(user) and not os.listdir(user.tmp)


def started(user, fifo):
    return subprocess.Popen([os.path.join(user.home, EXTCAP[0]), "--capture", "--extcap-interface", "collwire",
                             "--scenario", "sub-slow", "--fifo", fifo, "--pace", "20us/s"], env=user.environment, stderr=subprocess.PIPE)


def check_stop(user):
    """A viewer that stops or goes away ends the run."""
    run = user.tshark("sub-slow", "-c", "30", options=[("pace", "100us/s")])
    assert run.returncode == 0 and len(run.stdout.splitlines()) == 30, run.stderr
    assert ended(user), "30 packets"
    for number in (signal.SIGTERM, signal.SIGINT):
        fifo = os.path.join(user.home, "fifo")
        os.mkfifo(fifo)
        with started(user, fifo) as process, open(fifo, "rb") as reader:
            first = reader.read(2000)
            assert first[:4] == b"\x0a\x0d\x0d\x0a", "packets come while the run goes on"
            process.send_signal(number)
            reader.read()
            assert process.wait(20) == 0 and not process.stderr.read(), f"signal {number}"
        os.remove(fifo)
        assert ended(user), f"signal {number}"
    os.mkfifo(fifo)
    with started(user, fifo) as process:
        with open(fifo, "rb") as reader:
            reader.read(2000)
        assert process.wait(20) == 0 and not process.stderr.read(), "a closed pipe"
    os.remove(fifo)
    assert ended(user), "a closed pipe"


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        user = Home(folder)
        for check in (check_install, check_answers, check_captures, check_errors, check_stop):
            try:
                check(user)
                print(check.__name__)
            except AssertionError as error:
                failed = True
                print(f"{check.__name__}, line {error.__traceback__.tb_next.tb_lineno if error.__traceback__.tb_next else 0}: {error}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
