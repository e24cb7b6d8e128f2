"""What the two OpenAI protocols share: error bodies and headers."""

from __future__ import annotations

from typing import Any

from harness.services.model.protocols.base import Stamp, Trouble, dumps, encode

_CODES = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
    503: ("server_error", "overloaded"),
}
CLIENT_ERROR, SERVER_ERROR = 400, 500


def error_object(trouble: Trouble) -> dict[str, Any]:
    """``{message, type, param, code}``."""
    fallback = ("server_error", "server_error")
    if CLIENT_ERROR <= trouble.status < SERVER_ERROR:
        fallback = ("invalid_request_error", "invalid_request_error")
    kind, code = _CODES.get(trouble.status, fallback)
    return {
        "message": trouble.text,
        "type": kind,
        "param": trouble.param,
        "code": trouble.code or code,
    }


class OpenAI:
    """Headers and error bodies."""

    call_prefix = "call_"

    def headers(self, stamp: Stamp) -> dict[str, str]:
        """The request's id, under the name that the client looks for."""
        return {"x-request-id": f"req_{stamp.id}", "openai-version": "2020-10-01"}

    def error(self, trouble: Trouble, stamp: Stamp) -> bytes:  # noqa: ARG002
        """``{"error": {…}}``."""
        return encode(dumps({"error": error_object(trouble)}))
