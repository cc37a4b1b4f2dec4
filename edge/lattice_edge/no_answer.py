"""Why there was no answer, in words: from the exception of a connection that failed."""

from __future__ import annotations

import errno
import http.client
import socket
import ssl

from .settings import Address


def why_no_answer(error: BaseException, address: Address, seconds: float) -> str:
    """`... cannot be reached: REASON`, without a full stop; `address` is the one that was called."""
    host = f"{address.host}:{address.port}"
    if isinstance(error, socket.gaierror):
        return f"the host name {address.host} is unknown here"
    if isinstance(error, TimeoutError):
        return f"{host} gave no answer within {seconds:g} s (a firewall, a wrong host, or it hangs)"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens at {host} (connection refused)"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the TLS certificate of {host} is not trusted here ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return f"{host} does not speak TLS as https:// needs it ({error.reason or error})"
    if isinstance(error, (http.client.HTTPException, ConnectionResetError, BrokenPipeError)):
        return f"{host} does not speak HTTP"
    if isinstance(error, OSError) and error.errno is not None:
        return f"{host} cannot be reached ({errno.errorcode.get(error.errno, '')} {error.strerror})"
    return f"{host} cannot be reached ({error})"


def is_unknown_name(error: BaseException) -> bool:
    return isinstance(error, socket.gaierror)


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
