"""The progress of a job, for `wait`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from .extras import missing_package
from .records import JobStatus

Tell: TypeAlias = Callable[[JobStatus], object]
#: True: a bar on standard error, by rich; a function: called with each new status.
Progress: TypeAlias = "bool | Tell"


@contextmanager
def shown(progress: Progress) -> Iterator[Tell]:
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda _: None
    else:
        with _bar() as tell:
            yield tell


@contextmanager
def _bar() -> Iterator[Tell]:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        raise missing_package(
            "A progress bar needs rich", "rich", ", or give a function as `progress`."
        ) from None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("pending", total=None)

        def tell(status: JobStatus) -> None:
            failed = f", {status.failed_images} failed" if status.failed_images else ""
            bar.update(
                task,
                description=f"{status.status}{failed}",
                total=status.image_count,
                completed=status.finished_images,
            )

        yield tell
