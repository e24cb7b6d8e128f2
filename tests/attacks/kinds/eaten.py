"""Faults that a probe or another side request is to take in the turn's place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from harness.services.model.heard import Tool
from tests.attacks.form import Attack, Weaken, python, wrapped

_CLIENT = """
import http.client, json, socket, sys
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {}}}]
BODY = {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": TOOLS}
def ask(method, path, body=None, headers={}):
    link = http.client.HTTPConnection("model", 8080, timeout=20)
    link.request(method, path, None if body is None else json.dumps(body), headers)
    return link.getresponse().status
def turn():
    return ask("POST", "/v1/chat/completions", BODY)
"""
_DIES = "sys.exit(0 if turn() == 200 else 1)\n"
_HIT = {"id": "hit", "fault": "model.status", "with": {"status": 500}}
_EXPECT = [{"exit": 0}]


def _eaten(
    name: str, does: str, first: str, defence: str, weaken: Weaken, when: Any = None, **more: Any
) -> Attack:
    """A subject that no fault may hit, and what it does so that none does."""
    fault = _HIT if when is None else {**_HIT, "when": when}
    case = python(_CLIENT + first + _DIES, _EXPECT, faults=[fault], **more)
    return Attack(name, does, case, "failed", "broke:exit", defence, weaken)


def _counting(kinds: Callable[[str, str], bool]) -> Weaken:
    """A board that lets a fault be hit by whatever comes first."""

    def around(classify):
        def weak(self, incoming):
            asked = classify(self, incoming)
            if kinds(incoming.method, incoming.path):
                return asked._replace(counts=True)
            return asked

        return weak

    return wrapped("harness.services.model.service:ModelService.classify", around)


def _spends(untaken):
    """A request that never came whole uses up the faults that wait for one."""

    def weak(self, service, *rest):
        self.board.landed(self.board.take(service))
        return untaken(self, service, *rest)

    return weak


def _all_turns(route):
    """Whatever is posted to a completion path is a turn."""

    def weak(state, heard, *rest):
        tools = heard.tools or (Tool("run"),)
        return route(state, dataclasses.replace(heard, tools=tools), *rest)

    return weak


def _believes_headers(hits):
    def weak(self, fault_id):
        told = [r for r in self.requests() if fault_id in r.headers.values()]
        return hits(self, fault_id) + len(told)

    return weak


def _once(key):
    """Of requests that are alike in this, one is counted."""

    def around(judge):
        def weak(self, params, evidence):
            kept = {key(request): request for request in evidence.requests}
            return judge(self, params, dataclasses.replace(evidence, requests=tuple(kept.values())))

        return weak

    return wrapped("harness.oracles.requests:Requests.judge", around)


_PROBES = _counting(lambda method, path: not path.endswith("/chat/completions"))

ATTACKS = (
    _eaten(
        "eaten-by-head",
        "asks whether anybody is there before it asks anything",
        "ask('HEAD', '/')\n",
        "probes take no fault",
        _PROBES,
    ),
    _eaten(
        "eaten-by-counting",
        "has its tokens counted before its first turn",
        "ask('POST', '/v1/messages/count_tokens', BODY)\n",
        "probes take no fault",
        _PROBES,
    ),
    _eaten(
        "eaten-by-listing",
        "lists the models before its first turn",
        "ask('GET', '/v1/models')\n",
        "probes take no fault",
        _PROBES,
    ),
    _eaten(
        "eaten-by-another-path",
        "posts a turn to a path that no protocol knows",
        "ask('POST', '/v1/chat/completionz', BODY)\n",
        "only a post to a completion path is a turn",
        _PROBES,
    ),
    _eaten(
        "eaten-by-another-method",
        "puts a turn, which nobody does",
        "ask('PUT', '/v1/chat/completions/', BODY)\n",
        "only a post to a completion path is a turn",
        _PROBES,
    ),
    _eaten(
        "eaten-by-a-torn-body",
        "posts to the completion path what is no JSON",
        "link = http.client.HTTPConnection('model', 8080)\n"
        "link.request('POST', '/v1/chat/completions', 'torn')\nlink.getresponse()\n",
        "what cannot be heard is no turn",
        _counting(lambda method, path: True),
    ),
    _eaten(
        "eaten-by-a-title",
        "asks for a title, without tools, after a turn that the fault does not wait for",
        "turn()\nask('POST', '/v1/chat/completions', {**BODY, 'tools': []})\n",
        "side requests take no fault",
        wrapped("harness.services.model.service:route", _all_turns),
        when={"request": 2},
    ),
    _eaten(
        "eaten-by-half-a-turn",
        "begins a turn and hangs up before its body is whole",
        "link = socket.create_connection(('model', 8080))\n"
        "link.sendall(b'POST /v1/chat/completions HTTP/1.1\\r\\nHost: m\\r\\nContent-Length: 9\\r\\n\\r\\n{')\n"
        "link.shutdown(socket.SHUT_WR)\n"
        "link.recv(1)  # until it has been taken for over\n",
        "a request that never came whole takes no fault",
        wrapped("harness.services.live:Live.untaken", _spends),
    ),
    Attack(
        "never-asked",
        "asks the model nothing, so that no fault can hit it",
        python("print('Done.')", [{"exit": 0}], faults=[_HIT]),
        "unavailable",
        "fault-not-delivered",
        "a fault that hit nothing has not landed",
        wrapped(
            "harness.live.attempt:Recorded",
            lambda made: lambda **seen: made(**{**seen, "faults": ()}),
        ),
    ),
    Attack(
        "said-to-have-landed",
        "says in a header that the fault has hit it",
        python(
            _CLIENT
            + "ask('GET', '/v1/models', None, {'X-Shakeout-Fault': 'hit', 'Request-Id': '1'})",
            [{"exit": 0}],
            faults=[_HIT],
        ),
        "unavailable",
        "fault-not-delivered",
        "landing is proved by the harness's own record of what it sent",
        wrapped("harness.services.live:Live.hits", _believes_headers),
    ),
    Attack(
        "retried-out-of-sight",
        "is hit, asks again, and hides that it asked twice",
        python(
            _CLIENT + "turn() == 200 or turn()\n",
            [{"requests": {"exactly": 1}}],
            faults=[_HIT],
        ),
        "failed",
        "broke:requests",
        "requests that were refused are on record like all others",
        wrapped(
            "harness.oracles.asked:fits",
            lambda counts: lambda params, request: counts(params, request) and not request.fault,
        ),
    ),
    Attack(
        "asked-beside",
        "asks a second time on another connection while the first is being answered",
        python(
            _CLIENT
            + "links = [http.client.HTTPConnection('model', 8080) for _ in range(2)]\n"
            + "for link in links: link.request('POST', '/v1/chat/completions', json.dumps(BODY))\n"
            + "for link in links: link.getresponse().read()\n",
            [{"requests": {"exactly": 1}}],
        ),
        "failed",
        "broke:requests",
        "every request counts, also one that is equal to another",
        _once(lambda request: request.body_sha256),
    ),
    Attack(
        "asked-in-one-breath",
        "sends two turns at once down one connection",
        python(
            _CLIENT
            + "data = json.dumps(BODY).encode()\n"
            + "one = b'POST /v1/chat/completions HTTP/1.1\\r\\nHost: m\\r\\nContent-Length: %d\\r\\n\\r\\n' % len(data) + data\n"
            + "link = socket.create_connection(('model', 8080)); link.settimeout(2)\n"
            + "link.sendall(one + one)\n"
            + "try:\n    while link.recv(65536): pass\nexcept TimeoutError: pass\n",
            [{"requests": {"exactly": 1}}],
        ),
        "failed",
        "broke:requests",
        "every request counts, also one that came behind another",
        _once(lambda request: request.conn),
    ),
)
