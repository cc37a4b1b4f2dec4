"""The progress of a job on one line: updated in place in a notebook and in a terminal."""

from __future__ import annotations

import sys
from typing import Any

from lattice_client import JobStatus

_WIDTH = 24


class ProgressLine:
    def __init__(self) -> None:
        self._display: Any = None
        self._text = ""

    def show(self, status: JobStatus) -> None:
        text = line_of(status)
        if text == self._text:
            return
        self._text = text
        if _in_notebook():
            self._show_in_notebook(text)
        elif sys.stdout.isatty():
            print(f"\r{text:<78}", end="\n" if status.ended else "", flush=True)
        elif status.ended:
            print(text, flush=True)

    def _show_in_notebook(self, text: str) -> None:
        from IPython.display import display  # a terminal has no need of it

        bundle = {"text/plain": text}
        if self._display is None:
            self._display = display(bundle, raw=True, display_id=True)
        else:
            self._display.update(bundle, raw=True)


def line_of(status: JobStatus) -> str:
    filled = round(_WIDTH * status.progress)
    bar = "█" * filled + "░" * (_WIDTH - filled)
    return f"{bar} {status.finished_images}/{status.image_count} images, {status.status}"


def _in_notebook() -> bool:
    """True in a kernel, which can update an output; a plain IPython shell is a terminal."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
