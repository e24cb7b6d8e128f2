"""The control side of the harness: is there one to talk to?"""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.attacks.form import Attack, Weaken, python, wrapped

_ASK = """
import http.client
def ask(method, path, headers={}, host="model", body=None):
    link = http.client.HTTPConnection(host, 8080, timeout=20)
    link.request(method, path, body, headers)
    return link.getresponse().read()
"""
_TWO = {
    "services": {
        "http": {
            name: [{"on": "GET /", "reply": {"status": 200}}] for name in ("upstream", "other")
        }
    }
}
_NONE = [{"requests": {"service": "upstream", "exactly": 0}}]
_ONE = [{"requests": {"service": "other", "exactly": 1}}]


def _judged_by(counted) -> Weaken:
    """Requests are judged after ``counted`` has had its way with them."""
    return wrapped(
        "harness.oracles.requests:Requests.judge",
        lambda judge: (
            lambda self, params, evidence: judge(
                self,
                params,
                dataclasses.replace(evidence, requests=tuple(counted(evidence.requests))),
            )
        ),
    )


def _forgotten(requests):
    wiped = any(r.method == "DELETE" and r.path == "/__admin/requests" for r in requests)
    return () if wiped else requests


def _named_by_host(requests):
    for request in requests:
        host = request.headers.get("Host", request.headers.get("host", ""))
        name = host.partition(":")[0]
        yield dataclasses.replace(request, service=name or request.service)


def _attack(
    name: str, does: str, program: str, expect: Any, defence: str, weaken: Weaken
) -> Attack:
    case = python(_ASK + program, expect, **_TWO)
    return Attack(name, does, case, "failed", "broke:requests", defence, weaken)


ATTACKS = (
    _attack(
        "asks-to-forget",
        "asks a service to forget what it was asked, as other mocks would",
        "ask('GET', '/', host='upstream')\nask('DELETE', '/__admin/requests', host='upstream')\n",
        _NONE,
        "a service has no control side: whatever it is asked is one more request",
        _judged_by(_forgotten),
    ),
    _attack(
        "in-anothers-name",
        "asks one service and says that it means another",
        "ask('GET', '/', {'Host': 'other'}, host='upstream')\n",
        _ONE,
        "a request belongs to the listener that it came in on",
        _judged_by(_named_by_host),
    ),
    _attack(
        "one-id-for-all",
        "gives all its requests one id, as retries have",
        "for _ in range(3): ask('GET', '/', {'X-Request-Id': '7'}, host='other')\n",
        _ONE,
        "requests are numbered by the harness",
        _judged_by(
            lambda requests: {
                r.headers.get("X-Request-Id", r.headers.get("x-request-id")): r for r in requests
            }.values()
        ),
    ),
    _attack(
        "like-the-harness",
        "says that it is the harness, looking whether the service is there",
        "ask('GET', '/', {'User-Agent': 'shakeout/0.1', 'X-Shakeout-Kind': 'probe'}, 'upstream')\n",
        _NONE,
        "the harness sends no requests of its own, so all are the subject's",
        _judged_by(
            lambda requests: (r for r in requests if "shakeout" not in str(r.headers).lower())
        ),
    ),
)
