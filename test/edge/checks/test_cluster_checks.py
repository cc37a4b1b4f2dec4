"""Everything that can be wrong between the notebook and the cluster, told without Ray."""

from __future__ import annotations

import platform
import tempfile
import unittest
from pathlib import Path

from edge_case import EdgeCase
from loopback_servers import (
    free_port,
    say_nothing,
    service,
    speak_grpc,
    speak_ray,
    speak_ray_with,
    speak_tls,
    tcp_server,
)

PYTHON = platform.python_version()


class ClusterChecks(EdgeCase):
    def with_cluster(self, address: str, **of_service: str) -> str:
        with service(**of_service) as port:
            return self.fault(
                {
                    "LATTICE_CORE_API_URL": f"http://127.0.0.1:{port}",
                    "LATTICE_RAY_ADDRESS": address.replace("SERVICE", str(port)),
                }
            )

    def test_addresses_that_cannot_be_right(self) -> None:
        for address, part in {
            "host:10001": "must",
            "http://host:10001": "Ray's client protocol",
            "ray://": "must have the shape ray://HOST:10001",
            "ray://host:none": "must have the shape ray://HOST:10001",
            "ray://host:6379": "port 6379 is that of the cluster's internal store",
            "ray://host:8265": "port 8265 is that of the cluster's dashboard",
            "ray://host:8000": "port 8000 is that of the detection service",
            "ray://127.0.0.1:SERVICE": "is that of the detection service",
        }.items():
            with self.subTest(address):
                sentence = self.with_cluster(address)
                self.assertIn("LATTICE_RAY_ADDRESS", sentence)
                self.assertIn(part, sentence)
                self.assertIn(":10001", sentence)

    def test_nothing_listens(self) -> None:
        port = free_port()
        sentence = self.with_cluster(f"ray://127.0.0.1:{port}")
        self.assertIn(f"nothing listens at 127.0.0.1:{port} (connection refused)", sentence)
        self.assertIn("ray start --head --ray-client-server-port=10001", sentence)

    def test_the_name_is_unknown(self) -> None:
        sentence = self.with_cluster("ray://no-such-host.invalid:10001")
        self.assertIn("the host name no-such-host.invalid is unknown here", sentence)

    def test_something_else_listens(self) -> None:
        for serve, part in (
            (say_nothing, "says nothing for 2.5 s"),
            (speak_tls, "it speaks TLS"),
            (speak_grpc, "it does not know Ray's client"),
            (lambda connection: connection.recv(8), "closes it"),
            (
                lambda connection: connection.sendall(b"220 mail.example ESMTP\r\n"),
                "something else",
            ),
        ):
            with self.subTest(part), tcp_server(serve) as port:
                sentence = self.with_cluster(f"ray://127.0.0.1:{port}")
                self.assertIn("is not the client port of a Ray cluster", sentence)
                self.assertIn(part, sentence)

    def test_a_cluster_with_a_token(self) -> None:
        self.install_ray("2.58.0")
        with tempfile.TemporaryDirectory() as folder, service(cluster_version="2.60.0") as port:
            file = Path(folder) / "token"
            token = "t" * 200
            with tcp_server(speak_ray_with(token)) as cluster:
                variables = {
                    "LATTICE_CORE_API_URL": f"http://127.0.0.1:{port}",
                    "LATTICE_RAY_ADDRESS": f"ray://127.0.0.1:{cluster}",
                }
                at = f"The Ray cluster at ray://127.0.0.1:{cluster}"
                self.assertIn(
                    f"{at} needs a token: set LATTICE_RAY_TOKEN_FILE", self.fault(variables)
                )
                variables["LATTICE_RAY_TOKEN_FILE"] = str(file)
                self.assertIn("which cannot be read (No such file", self.fault(variables))
                file.write_text("another\n")
                self.assertIn(f"{at} does not accept the token", self.fault(variables))
                file.write_text(f"{token}\n")
                self.assertIn("Ray's must be equal", self.fault(variables))

    def test_another_namespace(self) -> None:
        self.install_ray("2.60.0")
        with (
            tcp_server(speak_ray) as cluster,
            service(cluster_version="2.60.0", python=PYTHON, namespace="north") as port,
        ):
            sentence = self.fault(
                {
                    "LATTICE_CORE_API_URL": f"http://127.0.0.1:{port}",
                    "LATTICE_RAY_ADDRESS": f"ray://127.0.0.1:{cluster}",
                }
            )
        self.assertEqual(
            sentence,
            "The service's workers are in the namespace north and LATTICE_RAY_NAMESPACE is lattice: set it to north.",
        )

    def test_a_web_server_listens(self) -> None:
        with service() as port:
            sentence = self.with_cluster(f"ray://127.0.0.1:{port}")
        self.assertIn("a web server answers there", sentence)

    def mismatch(self, cluster: str, python: str = PYTHON) -> str:
        with tcp_server(speak_ray) as port:
            return self.with_cluster(
                f"ray://127.0.0.1:{port}", cluster_version=cluster, python=python
            )

    def test_another_version_of_ray(self) -> None:
        self.install_ray("2.58.0")
        sentence = self.mismatch("2.60.0")
        self.assertIn(f"The cluster runs Ray 2.60.0 on Python {PYTHON}", sentence)
        self.assertIn(f"this notebook has Ray 2.58.0 on Python {PYTHON}", sentence)
        self.assertIn('`pip install "ray[client]==2.60.0"`', sentence)

    def test_another_minor_version_of_python(self) -> None:
        self.install_ray("2.60.0")
        sentence = self.mismatch("2.60.0", "3.9.18")
        self.assertIn("The cluster runs Ray 2.60.0 on Python 3.9.18", sentence)
        self.assertIn(f"this notebook has Ray 2.60.0 on Python {PYTHON}", sentence)
        self.assertIn("run the notebook on Python 3.9", sentence)
        self.assertIn('`pip install "ray[client]==2.60.0"`', sentence)

    def test_no_ray_here(self) -> None:
        sentence = self.mismatch("2.60.0")
        self.assertIn("Ray is not installed here and the cluster runs Ray 2.60.0", sentence)
        self.assertIn('`pip install "ray[client]==2.60.0"`', sentence)

    def test_the_service_needs_no_header_to_tell_its_cluster_from_itself(self) -> None:
        self.install_ray("2.58.0")
        with tcp_server(speak_ray) as port:
            sentence = self.with_cluster(f"ray://127.0.0.1:{port}", cluster_version="2.60.0")
        self.assertIn("The cluster runs Ray 2.60.0, this notebook has Ray 2.58.0", sentence)

    def test_the_service_is_right_and_the_default_cluster_is_looked_at(self) -> None:
        with service(cluster_version="2.60.0") as port:
            sentence = self.fault({"LATTICE_CORE_API_URL": f"http://127.0.0.1:{port}"})
        self.assertIn("The Ray cluster at ray://host.docker.internal:10001", sentence)


if __name__ == "__main__":
    unittest.main()
