"""Which certificates are trusted."""

from __future__ import annotations

import ssl


def verification(url: str) -> ssl.SSLContext | bool:
    """For httpx: the system's store, or SSL_CERT_FILE. False for `http://`, which saves the time to load them."""
    # Redirections are not followed, so such a client never speaks TLS.
    return ssl.create_default_context() if url.startswith("https://") else False
