"""Why there was no answer, in words."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

import httpx


def why_no_answer(error: BaseException, host: str) -> str:
    """`... cannot be reached: REASON`, without a full stop. `host` is HOST:PORT of the service."""
    cause = cause_of(error)
    timeouts = (TimeoutError, httpx.TimeoutException)
    if isinstance(cause, socket.gaierror):
        return f"the host name {host.rpartition(':')[0]} is unknown here"
    if isinstance(cause, ConnectionRefusedError):
        return f"nothing listens at {host} (connection refused)"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return (
            f"the TLS certificate of {host} is not trusted here "
            f"({cause.verify_message}; see SSL_CERT_FILE)"
        )
    if isinstance(cause, ssl.SSLError):
        return f"{host} does not speak TLS as https:// needs it ({cause.reason or cause})"
    if any(isinstance(each, timeouts) for each in _causes(error)):
        return f"{host} gives no answer (a firewall, a wrong host, or it hangs)"
    if isinstance(error, httpx.RemoteProtocolError) and "disconnected" not in str(error):
        return f"{host} does not speak HTTP ({error})"
    if isinstance(error, (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)):
        return f"{host} broke the connection off"
    if isinstance(cause, OSError) and cause.errno:
        return f"{cause.strerror} ({errno.errorcode.get(cause.errno, cause.errno)})"
    return str(error) or type(error).__name__


def cause_of(error: BaseException) -> BaseException:
    """The error of the system beneath that of httpx, else `error` itself."""
    for each in _causes(error):
        if isinstance(each, OSError) and each.errno:
            return each
    return error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """httpx keeps the error of the system at the end of the chain, asyncio sometimes in a group."""
    while error is not None:
        yield error
        for each in getattr(error, "exceptions", ()):
            yield from _causes(each)
        error = error.__cause__ or error.__context__
