"""The notebook in docs/ runs, and what it shows is drawn."""

import os
from pathlib import Path

import pytest

nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "linking.ipynb"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(NOTEBOOK.parents[2] / "src"), os.environ.get("PYTHONPATH", "")])
    )
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [each["data"].get("text/html", "") for cell in notebook.cells if cell.cell_type == "code"
             for each in cell.outputs if each.output_type == "execute_result"]  # fmt: skip
    assert len(shown) == 4
    assert "Robert Croft" in shown[1]
    assert 'class="m"' in shown[1]
    assert "person" in shown[2]
    assert "<table" in shown[3]
