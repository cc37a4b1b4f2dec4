"""Everything that can be wrong between the notebook and the service."""

from __future__ import annotations

import socket
import time
import unittest

from edge_case import EdgeCase
from loopback_servers import (
    free_port,
    http_server,
    say_nothing,
    service,
    speak_grpc,
    speak_tls,
    tcp_server,
)


def at(port: int, scheme: str = "http") -> dict[str, str]:
    return {"LATTICE_CORE_API_URL": f"{scheme}://127.0.0.1:{port}"}


class ServiceChecks(EdgeCase):
    def test_nothing_listens(self) -> None:
        port = free_port()
        sentence = self.fault(at(port))
        self.assertIn(f"nothing listens at 127.0.0.1:{port} (connection refused)", sentence)
        self.assertIn("start the service, or set LATTICE_CORE_API_URL", sentence)

    def test_the_name_is_unknown(self) -> None:
        sentence = self.fault({"LATTICE_CORE_API_URL": "http://no-such-host.invalid:8000"})
        self.assertIn("the host name no-such-host.invalid is unknown here", sentence)
        self.assertIn("set LATTICE_CORE_API_URL to the address of the service", sentence)

    def test_it_accepts_and_says_nothing(self) -> None:
        with tcp_server(say_nothing) as port:
            self.assertIn(
                "gives no answer (a firewall, a wrong host, or it hangs)", self.fault(at(port))
            )

    def test_it_drips_bytes_for_ever(self) -> None:
        def drip(connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                connection.sendall(b"x-more: 1\r\n")
                time.sleep(0.05)

        with tcp_server(drip) as port:
            self.fault(at(port))

    def test_it_speaks_tls(self) -> None:
        with tcp_server(speak_tls) as port:
            sentence = self.fault(at(port))
        self.assertIn(f"127.0.0.1:{port} speaks TLS", sentence)
        self.assertIn(f"set LATTICE_CORE_API_URL to https://127.0.0.1:{port}", sentence)

    def test_its_certificate_is_not_trusted(self) -> None:
        with tcp_server(speak_tls) as port:
            sentence = self.fault(at(port, "https"))
        self.assertIn("the TLS certificate of", sentence)
        self.assertIn("set SSL_CERT_FILE", sentence)

    def test_it_does_not_speak_tls(self) -> None:
        with service() as port:
            sentence = self.fault(at(port, "https"))
        self.assertIn("does not speak TLS", sentence)
        self.assertIn(f"http://127.0.0.1:{port}", sentence)

    def test_it_does_not_speak_http(self) -> None:
        with tcp_server(speak_grpc) as port:
            self.assertIn("does not speak HTTP", self.fault(at(port)))

    def test_it_is_another_product(self) -> None:
        def routes(*_: object) -> tuple[int, bytes, dict[str, str]]:
            return 200, b"<html>Welcome</html>", {"server": "nginx/1.27"}

        with http_server(routes) as port:
            sentence = self.fault(at(port))
        self.assertIn("it is not the detection service (HTTP 200 from", sentence)
        self.assertIn("set LATTICE_CORE_API_URL", sentence)

    def test_an_api_key_is_needed(self) -> None:
        with service(key="north-gate-0123456789") as port:
            sentence = self.fault(at(port))
            self.assertIn("needs an API key: set LATTICE_API_KEY", sentence)
            sentence = self.fault({**at(port), "LATTICE_API_KEY": "south-gate"})
        self.assertIn("does not know the API key in LATTICE_API_KEY", sentence)
        self.assertNotIn("south-gate", sentence)

    def test_addresses_that_cannot_be_right(self) -> None:
        for address, part in {
            "localhost:8000": "must",
            "ftp://host:8000": "must start with http:// or https://",
            "http://": "must have the shape http://HOST:8000",
            "http://host:port": "must have the shape http://HOST:8000",
            "http://host:8000/v1": "must end before /v1: set it to http://host:8000",
            "http://user:secret@host:8000": "must be a plain address",
        }.items():
            with self.subTest(address):
                sentence = self.fault({"LATTICE_CORE_API_URL": address})
                self.assertIn("LATTICE_CORE_API_URL", sentence)
                self.assertIn(part, sentence)
                self.assertNotIn("secret", sentence)


if __name__ == "__main__":
    unittest.main()
