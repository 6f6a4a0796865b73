# SPDX-License-Identifier: MIT
"""The generated modules of the Python package are those of the schema, of the styles and of docs/metrics.md (REGEN=1 writes them
anew)."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Generated(unittest.TestCase):
    def test_modules_are_current(self):
        with tempfile.TemporaryDirectory() as folder:
            for generator in ("generate_scenarios.py", "generate_metrics.py"):
                subprocess.run([sys.executable, ROOT / "python" / generator, ROOT, folder], check=True)
            names = sorted(path.name for path in pathlib.Path(folder).iterdir())
            self.assertEqual(names, ["_styles.py", "metrics.py", "scenarios.py"])
            for name in names:
                made, there = pathlib.Path(folder, name).read_text(), ROOT / "python" / "collwire" / name
                if os.environ.get("REGEN"):
                    there.write_text(made)
                self.assertEqual(made, there.read_text(), f"{there} is not current: make regen")


if __name__ == "__main__":
    unittest.main()
