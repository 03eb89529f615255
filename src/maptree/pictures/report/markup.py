"""The two ways for text to get into a page: as escaped HTML, and as JSON."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import Any


def text(value: object) -> str:
    """Return HTML that shows the text, whatever it contains.

    >>> text('</p><script>"&')
    '&lt;/p&gt;&lt;script&gt;&quot;&amp;'
    """
    return escape(str(value), quote=True)


def data(values: Any) -> str:
    r"""Return JSON that cannot close the script element around it.

    >>> data({"name": "</script>é"})
    '{"name":"\\u003c/script>\\u00e9"}'
    """
    packed = json.dumps(values, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return packed.replace("<", "\\u003c")


def piece(name: str) -> str:
    """Return a file of ``page/``."""
    return (files("maptree.pictures.report") / "page" / name).read_text(encoding="utf-8")


def fingerprint(content: str) -> str:
    """Return the hash that identifies an inline script or style in a Content-Security-Policy."""
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
