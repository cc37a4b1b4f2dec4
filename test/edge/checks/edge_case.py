"""What the tests of the checks share: the sentence of a fault, and that it came in time."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
import unittest
from pathlib import Path

from lattice_edge.connection import connect
from lattice_edge.faults import SetupError
from lattice_edge.settings import Settings

IN_TIME = 3.0


class EdgeCase(unittest.TestCase):
    def fault(self, variables: dict[str, str], cluster: bool | None = None) -> str:
        """The sentence with which `connect` refuses; it must be one, end as one, come in time and not load Ray."""
        settings = Settings.from_environment(variables)
        start = time.monotonic()
        with contextlib.redirect_stdout(io.StringIO()), self.assertRaises(SetupError) as caught:
            connect(cluster, settings=settings)
        self.assertLess(time.monotonic() - start, IN_TIME)
        self.assertNotIn("ray", sys.modules)
        sentence = str(caught.exception)
        self.assertTrue(sentence.endswith("."), sentence)
        self.assertNotIn("\n", sentence)
        self.assertNotRegex(sentence, r"[.!] [A-Z]", "more than one sentence")
        return sentence

    def install_ray(self, version: str, code: str = "raise ImportError('imported')") -> None:
        """A package `ray` of this version that runs `code` when it is imported; gone after the test."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        (root / "ray").mkdir()
        (root / "ray" / "__init__.py").write_text(code)
        info = root / f"ray-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ray\nVersion: {version}\n")
        sys.path.insert(0, folder.name)
        self.addCleanup(sys.path.remove, folder.name)
        self.addCleanup(sys.modules.pop, "ray", None)
