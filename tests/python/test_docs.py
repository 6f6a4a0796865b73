# SPDX-License-Identifier: MIT
"""Every block of Python in docs/python.md runs, in order, in a folder with the files that the page names."""
import contextlib
import io
import os
import re
import shutil
import tempfile
import unittest

from common import INCAST, ROOT, SCENARIOS, has

PAGE = ROOT / "docs" / "python.md"


class Docs(unittest.TestCase):
    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_every_block_runs(self):
        text = PAGE.read_text()
        blocks = [(text[: found.start()].count("\n") + 2, found.group(1)) for found in re.finditer(r"```python\n(.*?)```", text, re.DOTALL)]
        self.assertGreater(len(blocks), 10)
        names = {"__name__": "docs"}
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(INCAST, f"{folder}/job.json")
            shutil.copy(SCENARIOS / "llm/gpt-13b-128.json", f"{folder}/llm.json")
            os.chdir(folder)
            try:
                for line, block in blocks:
                    if "import xarray" in block and not has("xarray"):
                        continue
                    with self.subTest(f"{PAGE}:{line}"), contextlib.redirect_stdout(io.StringIO()):
                        exec(compile("\n" * (line - 1) + block, str(PAGE), "exec"), names)
            finally:
                os.chdir(before)

    def test_every_public_name_is_named(self):
        import collwire as cw
        text = PAGE.read_text()
        for name in cw.__all__:
            if name not in ("__version__", "Record"):
                self.assertRegex(text, rf"\b{name}\b", f"docs/python.md does not name {name}")


if __name__ == "__main__":
    unittest.main()
