"""Small real servers on loopback, each on a free port and each a context manager that gives its port."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CERTIFICATE = Path(__file__).with_name("loopback.pem")
# Length, type, flags, stream, payload: 0x88 is `:status: 200`.
HTTP2_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
HTTP2_HEADERS = bytes([0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88])
HTTP2_DATA = bytes([0, 0, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0])
HTTP2_STATUS = bytes([0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88])
# As gRPC sends it: `grpc-status: 16` in plain text.
_REFUSAL = b"\x88\x40\x0bgrpc-status\x0216"
HTTP2_REFUSAL = bytes([0, 0, len(_REFUSAL), 1, 5, 0, 0, 0, 1]) + _REFUSAL

#: method and path -> (status, body, headers)
Reply = tuple[int, Any, dict[str, str]]
Routes = Callable[[str, str, Any, dict[str, str]], Reply]


@contextmanager
def tcp_server(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Each connection is given to `serve` in a thread and closed afterwards."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection: socket.socket) -> None:
        with connection:
            try:
                serve(connection)
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        # Wakes the thread that waits in accept.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def say_nothing(connection: socket.socket) -> None:
    while connection.recv(1024):
        pass


def speak_ray(connection: socket.socket) -> None:
    """Ray's client server as the checks see it: it answers the question whether it is there."""
    _speak_grpc(connection, HTTP2_HEADERS + HTTP2_DATA)


def speak_grpc(connection: socket.socket) -> None:
    """Another gRPC server: it does not have the method, and says so by a status alone."""
    _speak_grpc(connection, HTTP2_STATUS)


def speak_ray_with(token: str) -> Callable[[socket.socket], None]:
    """Ray's client server of a cluster with this token."""
    return lambda connection: _speak_grpc(connection, HTTP2_REFUSAL, f"Bearer {token}".encode())


def _speak_grpc(connection: socket.socket, answer: bytes, token: bytes | None = None) -> None:
    """The first frame at once, then the end for anybody who does not speak HTTP/2.

    `answer` is for callers without the token.
    """
    connection.sendall(HTTP2_SETTINGS)
    received = connection.recv(1024)
    if not received.startswith(b"PRI * HTTP/2.0"):
        return
    while b"/ray.rpc.RayletDriver/ClusterInfo" not in received:
        received += connection.recv(1024)
    knows = token is not None and token in received
    connection.sendall(HTTP2_HEADERS + HTTP2_DATA if knows else answer)
    say_nothing(connection)


def speak_tls(connection: socket.socket) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with context.wrap_socket(connection, server_side=True) as wrapped:
        wrapped.recv(1024)


def free_port() -> int:
    """Nothing listens there at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def http_server(routes: Routes, product: str = "") -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, reply, more = routes(self.command, self.path, body, headers)
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def version_string(self) -> str:
            return product

        def log_message(self, *_: Any) -> None:
            return

    for method in ("GET", "POST", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def service(
    cluster_version: str = "0.1.0",
    python: str | None = None,
    key: str | None = None,
    cluster_fault: str | None = None,
    more: Routes | None = None,
    namespace: str | None = None,
) -> Iterator[int]:
    """What lattice-core answers to the checks; its own version is 0.1.0, so any other is that of a Ray cluster."""

    def routes(method: str, path: str, body: Any, headers: dict[str, str]) -> Reply:
        if path == "/healthz":
            return 200, {"status": "ok", "cluster_connected": cluster_fault is None}, {}
        if path == "/openapi.json":
            return 200, {"info": {"title": "lattice-core", "version": "0.1.0"}}, {}
        if key is not None and headers.get("authorization") != f"Bearer {key}":
            return 401, {"code": "unauthorized", "detail": "No."}, {}
        if path == "/v1/cluster/status":
            if cluster_fault is not None:
                return 503, {"code": "cluster_unavailable", "detail": cluster_fault}, {}
            told = {
                name: value
                for name, value in (
                    ("x-lattice-cluster-python", python),
                    ("x-lattice-cluster-namespace", namespace),
                )
                if value is not None
            }
            return 200, {"cluster_version": cluster_version}, told
        if more is not None:
            return more(method, path, body, headers)
        return 404, {"code": "not_found", "detail": "There is no such route."}, {}

    with http_server(routes) as port:
        yield port
