#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes of docs/sweeps.md, run as they are written: their merged store equals that of a single sweep.

usage: check_sweeps.py SOURCE parallel|slurm, with the executable in $COLLWIRE. Slurm runs as one node of its own, without munge and
cgroups, as this user; exit 77 where it does not start.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SOURCE, WHICH = sys.argv[1:3]
SWEEP = ["sweep", "scenarios/incast.json", "--vary", "workload.bytes=50KB,100KB,200KB", "--cc", "none,dcqcn"]

SLURM = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldPort={port}
SlurmdPort={port1}
StateSaveLocation={tmp}/state
SlurmdSpoolDir={tmp}/spool
SlurmctldPidFile={tmp}/slurmctld.pid
SlurmdPidFile={tmp}/slurmd.pid
SlurmctldLogFile={tmp}/slurmctld.log
SlurmdLogFile={tmp}/slurmd.log
SlurmctldParameters=enable_configless
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def recipe():
    with open(os.path.join(SOURCE, "docs/sweeps.md"), encoding="utf-8") as file:
        return re.search(rf"<!-- test: {WHICH} -->\n```sh\n(.*?)```", file.read(), re.S).group(1)


def free_ports():
    """Two neighbouring ports that are free."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            try:
                two.bind(("127.0.0.1", one.getsockname()[1] + 1))
                return one.getsockname()[1]
            except OSError:
                pass


class Slurm:
    def __init__(self, tmp):
        self.tmp, self.started = tmp, []

    def __enter__(self):
        port = free_ports()
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.tmp, name))
        text = SLURM.format(host=socket.gethostname().split(".")[0], user=os.environ.get("USER") or "root", port=port,
                            port1=port + 1, tmp=self.tmp, cpus=os.cpu_count())
        path = os.path.join(self.tmp, "slurm.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.environ["SLURM_CONF"] = path
        for program in ("slurmctld", "slurmd"):
            self.started.append(subprocess.Popen([program, "-D", "-f", path], stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL))
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True, check=False)
            if found.stdout.strip() == "idle":
                return self
            time.sleep(0.5)
        self.__exit__()
        for name in ("slurmctld.log", "slurmd.log"):
            log = os.path.join(self.tmp, name)
            if os.path.exists(log):
                with open(log, encoding="utf-8") as file:
                    print(name, file.read()[-1500:])
        print("Slurm does not start here")
        sys.exit(77)

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def run(tmp):
    os.symlink(os.path.join(SOURCE, "scenarios"), os.path.join(tmp, "scenarios"))
    os.mkdir(os.path.join(tmp, "bin"))
    os.symlink(os.environ["COLLWIRE"], os.path.join(tmp, "bin/collwire"))
    os.environ["PATH"] = os.path.join(tmp, "bin") + ":" + os.environ["PATH"]
    subprocess.run(["sh", "-euc", recipe()], cwd=tmp, check=True, timeout=200)
    subprocess.run(["collwire", *SWEEP, "--out", "out/one", "--quiet"], cwd=tmp, check=True, timeout=100)
    for name in ("sweep.csv", "sweep.json"):
        texts = []
        for folder in ("all", "one"):
            with open(os.path.join(tmp, "out", folder, name), encoding="utf-8") as file:
                texts.append(file.read())
        assert texts[0] == texts[1] and len(texts[0]) > 500, f"{name} differs"
    print(f"{WHICH}: the parts equal one sweep")


with tempfile.TemporaryDirectory() as tmp:
    if WHICH == "parallel":
        run(tmp)
    else:
        assert shutil.which("slurmctld")
        with Slurm(tmp):
            run(tmp)
