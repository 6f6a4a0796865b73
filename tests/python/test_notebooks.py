# SPDX-License-Identifier: MIT
"""The notebooks of examples/notebooks run, and what their last lines show is a picture or a table without a request: by
exec() in any case, and in a kernel of Jupyter where that is installed."""
import ast
import json
import os
import tempfile
import unittest

from common import PYTHON, ROOT, SANITIZED, has

# The gate runs the first, and the long tests all.
ALL = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NOTEBOOKS = ALL if os.environ.get("NOTEBOOKS_ALL") else ALL[:1]


def run(file):
    """Run the cells of a notebook; returns what their last expressions show."""
    names, shown = {"__name__": "__main__"}, []
    for cell in json.loads(file.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"]), str(file))
        last = body.body.pop() if isinstance(body.body[-1], ast.Expr) else None
        exec(compile(body, str(file), "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(file), "eval"), names)
            for method in ("_repr_html_", "_repr_svg_"):
                if hasattr(value, method):
                    shown.append(getattr(value, method)())
    return shown


@unittest.skipUnless(has("pandas"), "pandas is not installed")
class Notebooks(unittest.TestCase):
    def test_there_are_three(self):
        self.assertEqual([file.stem for file in ALL], ["compare", "sweep", "workload"])
        for file in NOTEBOOKS:
            self.assertTrue(all(not cell.get("outputs") for cell in json.loads(file.read_text())["cells"]), file)

    def test_cells_run(self):
        for file in NOTEBOOKS:
            with self.subTest(file.stem):
                shown = run(file)
                self.assertGreater(len(shown), 2)
                self.assertTrue(any("<svg" in text for text in shown))
                for text in shown:
                    self.assertNotRegex(text, r"<(script|link|img)[^>]*(src|href)=.http")

    @unittest.skipUnless(has("nbclient") and has("ipykernel") and not SANITIZED, "Jupyter is not installed")
    def test_in_a_kernel(self):
        import nbclient
        import nbformat
        os.environ["PYTHONPATH"] = str(PYTHON)
        for file in NOTEBOOKS:
            with self.subTest(file.stem), tempfile.TemporaryDirectory() as folder:
                notebook = nbformat.read(file, as_version=4)
                nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
                kinds = {kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
                self.assertLessEqual({"text/html", "image/svg+xml"}, kinds)


if __name__ == "__main__":
    unittest.main()
