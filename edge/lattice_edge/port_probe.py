"""What listens at a port, told from the first bytes it answers, without Ray and without a gRPC library."""

from __future__ import annotations

import os
import re
import socket
import ssl
import struct
from collections.abc import Mapping
from typing import Literal

from .settings import Address

#: `ray` is Ray's client server, `locked` one that wants another token, `grpc` any other gRPC server.
Speech = Literal["ray", "locked", "grpc", "http1", "tls", "silent", "closed", "other"]

# HTTP/2, RFC 9113: frame types, and the flag that ends a stream.
_DATA, _HEADERS, _RESET, _SETTINGS, _GOAWAY = 0, 1, 3, 4, 7
_END_STREAM, _END_HEADERS = 0x1, 0x4
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME_HEAD = 9
_MOST_FRAMES = 32
# Ray's own question whether its client server is there; it opens no session.
_METHOD = "/ray.rpc.RayletDriver/ClusterInfo"
_PING = bytes([0x08, 6])
# The status UNAUTHENTICATED or PERMISSION_DENIED among the fields of an answer: gRPC sends them as plain text.
_REFUSAL = re.compile(rb"grpc-status(\x0216|\x017)")


def speech_of(address: Address, seconds: float, headers: Mapping[str, str]) -> Speech:
    """What the port speaks to a caller with these headers.

    Raises `OSError` when nothing can be connected to; `seconds` bounds each wait for bytes.
    """
    with socket.create_connection((address.host, address.port), timeout=seconds) as connection:
        connection.settimeout(seconds)
        # Ray's TLS wants a certificate of ours too: whether it fits is left to Ray.
        if os.environ.get("RAY_USE_TLS") == "1":
            return "ray" if speaks_tls(address, seconds) else "other"
        try:
            connection.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, b""))
            head = _read(connection, _FRAME_HEAD)
            if len(head) == _FRAME_HEAD and head[3] == _SETTINGS:
                _read(connection, int.from_bytes(head[:3], "big"))
                return _answer_to_ping(connection, address, headers)
        except TimeoutError:
            return "silent"
        except OSError:
            head = b""
    # Some web servers leave out the status line when they did not understand the request.
    if head.startswith((b"HTTP/1", b"<")):
        return "http1"
    if speaks_tls(address, seconds):
        return "tls"
    return "other" if head else "closed"


def speaks_tls(address: Address, seconds: float) -> bool:
    """Whether a TLS handshake succeeds there. Nothing is sent over it, so the certificate is not looked at."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with socket.create_connection((address.host, address.port), timeout=seconds) as plain:
            plain.settimeout(seconds)
            with context.wrap_socket(plain, server_hostname=address.host):
                return True
    except OSError:
        return False


def _answer_to_ping(
    connection: socket.socket, address: Address, headers: Mapping[str, str]
) -> Speech:
    """A server that has the method answers with data; one that has not, or wants a token, with a status alone."""
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": _METHOD,
        ":authority": f"{address.host}:{address.port}",
        "content-type": "application/grpc",
        "te": "trailers",
        **headers,
    }
    block = b"".join(_literal(name) + _literal(value, b"") for name, value in fields.items())
    message = struct.pack(">BI", 0, len(_PING)) + _PING
    connection.sendall(
        _frame(_HEADERS, _END_HEADERS, 1, block) + _frame(_DATA, _END_STREAM, 1, message)
    )
    for _ in range(_MOST_FRAMES):
        head = _read(connection, _FRAME_HEAD)
        if len(head) < _FRAME_HEAD:
            return "grpc"
        kind, flags = head[3], head[4]
        payload = _read(connection, int.from_bytes(head[:3], "big"))
        if kind == _DATA:
            return "ray"
        if kind == _HEADERS and _REFUSAL.search(payload):
            return "locked"
        if kind in (_RESET, _GOAWAY) or (kind == _HEADERS and flags & _END_STREAM):
            return "grpc"
    return "grpc"


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def _literal(text: str, prefix: bytes = b"\x00") -> bytes:
    """RFC 7541, section 6.2.2: a name after the prefix zero, then its value, each with its length (section 5.1)."""
    data = text.encode()
    if len(data) < 127:
        return prefix + bytes([len(data)]) + data
    rest = len(data) - 127
    length = bytearray([127])
    while rest >= 128:
        length.append(rest % 128 + 128)
        rest //= 128
    return prefix + bytes(length) + bytes([rest]) + data


def _read(connection: socket.socket, count: int) -> bytes:
    """Up to `count` bytes; fewer when the other side closes."""
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            break
        data += more
    return data
