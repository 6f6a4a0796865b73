# SPDX-License-Identifier: MIT
"""The wheel: its tag, records and licences, and the package from it in a fresh virtual environment without a compiler.

usage: test_wheel.py BUILD_DIR
"""
import base64
import csv
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from common import INCAST, ROOT

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
WORK = pathlib.Path(tempfile.mkdtemp(prefix="wheel"))
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable # pandas of Debian belongs to it
USE = """
import os, sys
import collwire as cw
from collwire import _library, _program
here = os.path.dirname(cw.__file__)
assert here.startswith(sys.prefix) and _library.LIBRARY._name.startswith(here) and _program.path().startswith(here), here
maps = open("/proc/self/maps").read()
assert "libjansson-" in maps and "/libjansson.so" not in maps
result = cw.run(sys.argv[1], set={"cc.kind": "dcqcn"})
assert result.completed and result.chart().svg.startswith("<svg")
found = cw.compare(sys.argv[1], ["none", "swift", "window{k=0.5}"], seeds=2)
assert len(found.rows) == 6 and "<html" in found.report().html
assert len(cw.sweep(sys.argv[1], {"workload.bytes": ["50KB", "1MB"]}).run()) == 2
@cw.add_policy
class Half(cw.Policy):
    "half"
    name = "half"
    def init(self, cc, now):
        cc.rate_bps = cc.env.line_bps // 2
assert cw.run(sys.argv[1], set={"cc": {"kind": "half"}}).completed
try:
    import pandas
except ImportError:
    print("without pandas")
else:
    assert found.frame().groupby("policy")["sim_time_ns"].mean().shape == (3,)
print("used")
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("patchelf"):
            print("patchelf is not installed")
            sys.exit(77)
        for name in ("one", "two"):
            subprocess.run([sys.executable, ROOT / "python/make_wheel.py", ROOT, BUILD, WORK / name], check=True)
        cls.file = next((WORK / "one").glob("*.whl"))
        cls.archive = zipfile.ZipFile(cls.file)

    @classmethod
    def tearDownClass(cls):
        cls.archive.close()
        shutil.rmtree(WORK)

    def test_the_same_bytes_again(self):
        self.assertEqual(self.file.read_bytes(), (WORK / "two" / self.file.name).read_bytes())

    def test_the_tag_is_that_of_the_symbols(self):
        tag = re.search(r"-py3-none-manylinux_2_(\d+)_(\w+)\.whl$", self.file.name)
        self.assertEqual(tag.group(2), os.uname().machine)
        self.archive.extractall(WORK / "files")
        names, newest = [name for name in self.archive.namelist() if "/_native/bin/" in name or "/_native/lib/" in name], 0
        for name in names:
            text = subprocess.run(["readelf", "-V", "-d", WORK / "files" / name], capture_output=True, text=True, check=True).stdout
            newest = max([newest] + [int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", text)])
            self.assertRegex(text, r"R(UN)?PATH.*\[\$ORIGIN", name)
            for library in re.findall(r"NEEDED.*\[(.*?)\]", text):
                self.assertTrue(re.match(r"lib(c|m|dl|pthread|rt|gcc_s)\.so|ld-linux", library) or
                                f"collwire/_native/lib/{library}" in names, f"{name}: {library}")
        self.assertEqual(newest, int(tag.group(1)))
        self.assertIn(f"Tag: {self.file.stem.split('-', 2)[2]}\n", self.read("WHEEL"))

    def read(self, name):
        return self.archive.read(next(n for n in self.archive.namelist() if n.endswith(f".dist-info/{name}"))).decode()

    def test_record_and_licences(self):
        rows = {row[0]: row[1:] for row in csv.reader(self.read("RECORD").splitlines())}
        self.assertEqual(set(rows), set(self.archive.namelist()))
        for name, (digest, size) in rows.items():
            if digest:
                data = self.archive.read(name)
                self.assertEqual((digest, int(size)), ("sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("="), len(data)))
        licences = [pathlib.PurePath(name).name for name in rows if "/licenses/" in name]
        self.assertLessEqual({"LICENSE", "libjansson4.txt", "libpcap0.8.txt", "libnettle8.txt", "zlib1g.txt"}, set(licences))
        self.assertGreaterEqual(len(licences) - 1, len([name for name in rows if "/_native/lib/" in name]) - 1)
        self.assertIn("collwire/py.typed", rows)
        self.assertIn("Provides-Extra: pandas\n", self.read("METADATA"))

    def environment(self, name):
        """A virtual environment with the wheel as pip installs it; returns its folder and that of its packages."""
        venv = WORK / name
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", venv], check=True)
        where = subprocess.run([venv / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                               capture_output=True, text=True, check=True)
        site = pathlib.Path(where.stdout.strip())
        self.archive.extractall(site)
        for program in (site / "collwire/_native/bin").iterdir():
            program.chmod(0o755) # as pip does for what the archive marks
        data = next(site.glob("collwire-*.data"))
        shutil.copytree(data / "data", venv, dirs_exist_ok=True)
        shutil.rmtree(data)
        return venv, site

    def test_what_stands_beside_the_program(self):
        """Scenarios to start from, and the files of Wireshark, as an installation has them."""
        venv, site = self.environment("beside")
        program, home = site / "collwire/_native/bin/collwire", WORK / "home"
        home.mkdir()
        def collwire(*words, code=0):
            done = subprocess.run([program, *words], capture_output=True, text=True, check=False, cwd=home, env={"HOME": str(home)})
            self.assertEqual((done.returncode, done.stderr), (code, ""), f"{words}: {done.stdout}")
            return done.stdout
        starts = {path.stem for path in (ROOT / "scenarios" / "start").glob("*.json")}
        self.assertEqual(set(re.findall(r"^  ([a-z]\S*)", collwire("new"), re.M)), starts)
        collwire("new", "incast", "-o", "job.json")
        collwire("run", "job.json", "--quiet")
        said = collwire("extcap", "install")
        self.assertNotIn("not beside this program", said)
        self.assertIn(f"{site}/collwire/_native/share/collwire/scenarios", said)
        for path in (ROOT / "net" / "capture" / "wireshark").glob("*.lua"):
            self.assertEqual((home / ".local/lib/wireshark/plugins" / path.name).read_bytes(), path.read_bytes())
        self.assertTrue((home / ".config/wireshark/profiles/collwire/preferences").is_file())
        self.policy_in_c(venv, program)

    def policy_in_c(self, venv, program):
        """The example builds with the headers of the environment, also where it is only activated; and runs."""
        if not all(shutil.which(name) for name in ("make", "cc", "pkg-config")):
            return
        folder = WORK / "policy"
        shutil.copytree(venv / "share/collwire/examples/policy", folder)
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PKG_CONFIG", "COLLWIRE", "VIRTUAL_ENV"))}
        nowhere = clean | {"PKG_CONFIG_LIBDIR": str(WORK / "nowhere")}
        done = subprocess.run(["make", "all"], cwd=folder, env=nowhere, capture_output=True, text=True, check=False)
        self.assertTrue(done.returncode == 2 and "activate" in done.stderr and "SOURCES=FOLDER" in done.stderr, done.stderr)
        done = subprocess.run(["make", "test", f"COLLWIRE={program}"], cwd=folder, env=nowhere | {"VIRTUAL_ENV": str(venv)},
                              capture_output=True, text=True, check=False)
        self.assertTrue(done.returncode == 0 and re.search(r"^aimd +\d", done.stdout, re.M), done.stdout + done.stderr)
        text = subprocess.run(["pkg-config", "--modversion", "collwire"], env=clean | {"PKG_CONFIG_PATH": str(venv / "lib/pkgconfig")},
                              capture_output=True, text=True, check=True).stdout
        self.assertEqual(text.strip(), self.file.name.split("-")[1])

    def test_a_fresh_environment_without_a_compiler(self):
        venv, _ = self.environment("venv")
        python = venv / "bin" / "python"
        self.assertTrue(any(info.external_attr >> 16 & 0o111 for info in self.archive.infolist() if info.filename.endswith("bin/collwire")))
        done = subprocess.run([python, "-c", USE, INCAST], capture_output=True, text=True, check=False, cwd=WORK,
                              env={"PATH": str(venv / "bin"), "HOME": str(WORK)})
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["used"]), done.stdout + done.stderr)
        done = subprocess.run([python, "-c", "from collwire._program import main; main()", "--version"], capture_output=True, text=True,
                              check=True, env={})
        self.assertRegex(done.stdout, r"^collwire \d")


if __name__ == "__main__":
    unittest.main()
