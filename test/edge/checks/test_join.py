"""Joining the cluster once everything was compared, with a stand-in for Ray that is told what to do."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from typing import Any

from edge_case import EdgeCase
from loopback_servers import service, speak_ray, tcp_server

from lattice_edge.connection import connect
from lattice_edge.faults import SetupError
from lattice_edge.ray_session import leave
from lattice_edge.settings import DEFAULT_CLUSTER, Settings

JOINS = """
calls = []
def is_initialized(): return len(calls) > 0
def init(*address, **options): calls.append((address, options))
def shutdown(): calls.clear()
"""
HANGS = """
import time
def is_initialized(): return False
def init(*address, **options): time.sleep(60)
"""
REFUSES = """
count = 0
def is_initialized(): return False
def init(*address, **options):
    global count
    count += 1
    raise ConnectionAbortedError("Initialization failure from server:\\nTraceback\\nno room on the head node.")
"""
REFUSES_LATE = REFUSES.replace("count += 1", "count += 1; import time; time.sleep(1.2)")
REFUSES_ONCE = (
    JOINS
    + """
first = [ConnectionAbortedError("Starting Ray client server failed.")]
def init(*address, **options):
    if first: raise first.pop()
    calls.append((address, options))
"""
)


class Join(EdgeCase):
    def connect(self, ray: str, of_service: str = "2.60.0", seconds: float = 2.0) -> str:
        """What was printed."""
        self.install_ray("2.60.0", ray)
        said = io.StringIO()
        with (
            tcp_server(speak_ray) as cluster,
            service(cluster_version=of_service) as port,
            contextlib.redirect_stdout(said),
        ):
            self.address = f"ray://127.0.0.1:{cluster}"
            variables = {
                "LATTICE_CORE_API_URL": f"http://127.0.0.1:{port}",
                "LATTICE_RAY_ADDRESS": self.address,
                "LATTICE_RAY_NAMESPACE": "north",
            }
            settings = Settings.from_environment(variables)
            connect(settings=settings, join_seconds=seconds)
        return said.getvalue()

    def test_it_joins_in_the_namespace_and_only_once(self) -> None:
        said = self.connect(JOINS)
        self.assertIn(f"Joined the Ray cluster at {self.address}, namespace north.", said)
        ray: Any = sys.modules["ray"]
        [(address, options)] = ray.calls
        self.assertEqual(address, (self.address,))
        self.assertEqual(options["namespace"], "north")
        leave()
        self.assertFalse(ray.is_initialized())

    def test_it_never_hangs(self) -> None:
        start = time.monotonic()
        with self.assertRaises(SetupError) as caught:
            self.connect(HANGS, seconds=0.5)
        self.assertLess(time.monotonic() - start, 3)
        self.assertIn("within 0.5 s", str(caught.exception))
        self.assertIn("restart the kernel", str(caught.exception))

    def test_a_refusal_is_told_after_a_second_try(self) -> None:
        with self.assertRaises(SetupError) as caught:
            self.connect(REFUSES)
        self.assertIn("(no room on the head node)", str(caught.exception))
        self.assertIn("compare the Python of its nodes", str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
        ray: Any = sys.modules["ray"]
        self.assertEqual(ray.count, 2)

    def test_both_tries_together_take_no_longer_than_it_says(self) -> None:
        start = time.monotonic()
        with self.assertRaises(SetupError) as caught:
            self.connect(REFUSES_LATE, seconds=2.3)
        self.assertLess(time.monotonic() - start, 2.8)
        self.assertIn("within 2.3 s", str(caught.exception))

    def test_a_refusal_that_passes_does_no_harm(self) -> None:
        said = self.connect(REFUSES_ONCE)
        self.assertIn("trying once more", said)
        self.assertIn("Joined the Ray cluster", said)

    def test_versions_that_cannot_be_asked_are_named_when_joining_fails(self) -> None:
        with self.assertRaises(SetupError) as caught:
            self.connect(REFUSES, of_service="0.1.0")
        self.assertIn(
            "compare its `ray --version` with this notebook's Ray 2.60.0", str(caught.exception)
        )

    def test_a_service_without_ray_needs_none(self) -> None:
        said = io.StringIO()
        with service() as port, contextlib.redirect_stdout(said):
            variables = {
                "LATTICE_CORE_API_URL": f"http://127.0.0.1:{port}",
                "LATTICE_RAY_ADDRESS": DEFAULT_CLUSTER,
            }
            connect(settings=Settings.from_environment(variables))
        self.assertNotIn("ray", sys.modules)
        self.assertEqual(said.getvalue(), "")

    def test_the_service_alone_is_enough_when_asked_so(self) -> None:
        with service(cluster_version="2.60.0") as port:
            variables = {"LATTICE_CORE_API_URL": f"http://127.0.0.1:{port}"}
            connect(cluster=False, settings=Settings.from_environment(variables))
        self.assertNotIn("ray", sys.modules)

    def test_a_service_that_lost_its_cluster_says_so(self) -> None:
        said = io.StringIO()
        with (
            service(cluster_fault="ray://head:10001 does not answer.") as port,
            contextlib.redirect_stdout(said),
        ):
            variables = {"LATTICE_CORE_API_URL": f"http://127.0.0.1:{port}"}
            connect(cluster=False, settings=Settings.from_environment(variables))
        self.assertIn(
            "cannot reach its cluster: ray://head:10001 does not answer.", said.getvalue()
        )
