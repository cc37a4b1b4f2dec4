"""`execute_notebook.py NOTEBOOK RESULT SECONDS`: runs a notebook as JupyterLab would and writes it with its outputs.

Exit status 1 when a cell failed; the notebook as far as it came is written all the same.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def main(notebook: Path, result: Path, seconds: int) -> int:
    content = nbformat.read(notebook, as_version=4)
    nbformat.validate(content)
    client = NotebookClient(
        content,
        timeout=seconds,
        startup_timeout=60,
        kernel_name="python3",
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        nbformat.write(content, result)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
