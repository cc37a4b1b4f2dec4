"""`python -m lattice_edge` as a person runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest

from loopback_servers import free_port, service

from lattice_edge.settings import Settings


def doctor(variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LATTICE_")}
    return subprocess.run(
        [sys.executable, "-B", "-m", "lattice_edge"],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


class Doctor(unittest.TestCase):
    def test_every_check_is_printed_and_all_is_well(self) -> None:
        with service(key="north-gate-0123456789") as port:
            address = f"http://127.0.0.1:{port}"
            done = doctor(
                {"LATTICE_CORE_API_URL": address, "LATTICE_API_KEY": "north-gate-0123456789"}
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"ok +service +\d+ ms  The service answers at " + address)
        self.assertRegex(done.stdout, r"ok +account +\d+ ms  The service \(0\.1\.0\) runs without")
        self.assertNotIn("north-gate", done.stdout)

    def test_a_fault_of_the_service_does_not_hide_that_of_the_cluster(self) -> None:
        done = doctor(
            {
                "LATTICE_CORE_API_URL": f"http://127.0.0.1:{free_port()}",
                "LATTICE_RAY_ADDRESS": f"ray://127.0.0.1:{free_port()}",
            }
        )
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"FAULT service .*connection refused")
        self.assertRegex(done.stdout, r"FAULT cluster .*connection refused")
        self.assertEqual(done.stderr, "")


class Defaults(unittest.TestCase):
    def test_an_empty_environment_means_the_machine_of_the_container(self) -> None:
        settings = Settings.from_environment({"LATTICE_RAY_NAMESPACE": "", "LATTICE_API_KEY": " "})
        self.assertEqual(settings, Settings())
        self.assertEqual(settings.service, "http://host.docker.internal:8000")
        self.assertEqual(settings.cluster, "ray://host.docker.internal:10001")
        self.assertEqual(settings.namespace, "lattice")
        self.assertIsNone(settings.api_key)
