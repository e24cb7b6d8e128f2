"""``upstream.tls-failure`` through the product: it lands, it breaks, or it proves nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import cli

CURL = "curl -sS https://up:8443/a >got 2>err; echo curl $?"
CARELESS = "curl -sSk https://up:8443/a; echo curl $?"
AGAIN = f"{CURL}; until curl -sS https://up:8443/a; do sleep 0.1; done"
PYTHON = (
    "python3 -c 'import urllib.request as u; print(u.urlopen(\"https://up:8443/a\").read())' 2>&1"
    "; echo python $?"
)
GIT = "git ls-remote https://up:8443/a.git; echo git $?"
TRUSTED = f"{CURL.replace(':8443', '')}; {CURL}; {PYTHON}; {GIT}; cmp got - <<E\nfine\nE"

ENTRIES: dict[str, dict[str, Any]] = {
    "whoever-trusts-the-system-trusts-the-services": {
        "sh": TRUSTED,
        "tls": True,
        "kind": None,
        "expect": [
            {"output": {"matches": r"curl 0\ncurl 0\nb'fine\\n'\npython 0\ngit 128"}},
            {"requests": {"service": "up", "exactly": 4}},
            {"requests": {"service": "up", "path": "/a.git/**", "exactly": 1}},
        ],
        "verdict": "passed",
    },
    "without-tls-nobody-answers": {
        "sh": CURL,
        "kind": None,
        "expect": [{"output": {"matches": "curl 7"}}],
        "verdict": "passed",
    },
    "every-kind-is-turned-down": {
        "sh": f"{CURL}; {CURL.replace('>got', '>second')}",
        "kind": ["expired", "wrong-host", "untrusted", "handshake", "protocol", "closed"],
        "expect": [
            {"output": {"matches": r"curl (60|35)\ncurl 0"}},
            {"requests": {"service": "up", "exactly": 2}},
            {"order": [
                {"fault": {"id": "bad", "was": "landed"}},
                {"request": {"service": "up", "method": "GET", "status": 200}},
            ]},
        ],
        "verdict": "passed",
        "landed": 1,
        "proof": "1 request on record carries it; the client: ",
    },
    "a-client-that-does-not-look-has-met-it": {
        "sh": CARELESS,
        "kind": ["expired", "wrong-host", "untrusted"],
        "expect": [{"requests": {"service": "up", "exactly": 0}}],
        "verdict": "failed",
        "reasons": ["broke:requests"],
        "landed": 1,
        "proof": "went on 1x",
    },
    "what-had-to-be-had-is-not": {
        "sh": CURL,
        "kind": ["expired"],
        "times": "always",
        "expect": [{"file": {"path": "got", "equals": "fine\n"}}],
        "verdict": "failed",
        "reasons": ["broke:file"],
        "landed": 1,
        "proof": "certificate expired",
    },
    "it-is-waited-out": {
        "sh": AGAIN,
        "kind": ["untrusted"],
        "times": 3,
        "expect": [{"exit": 0}, {"requests": {"service": "up", "exactly": 4}}],
        "verdict": "passed",
        "landed": 3,
        "proof": "unknown ca",
    },
    "who-speaks-without-tls-meets-nothing": {
        "sh": CURL.replace("https://up:8443", "http://up:8080"),
        "kind": ["expired"],
        "expect": [{"output": {"matches": "curl 0"}}],
        "verdict": "unavailable",
        "reasons": ["fault-not-delivered"],
        "landed": 0,
        "proof": "0 requests",
    },
    "it-is-never-due": {
        "sh": CURL,
        "kind": ["expired"],
        "when": {"service": "up", "request": 2},
        "expect": [{"output": {"matches": "curl 0"}}],
        "verdict": "unavailable",
        "reasons": ["fault-not-delivered"],
        "landed": 0,
        "proof": "in vain",
    },
}  # fmt: skip


def document(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    fault = {
        "id": "bad",
        "fault": "upstream.tls-failure",
        "with": {"service": "up"},
        "each": {"kind": entry["kind"]},
        "times": entry.get("times", 1),
        **({"when": entry["when"]} if "when" in entry else {}),
    }
    return {
        "case": name,
        "title": name,
        "proves": "what a handshake that fails does",
        "subject": {"command": ["sh", "-c", entry["sh"]]},
        "task": "none",
        "sandbox": {"tls": entry.get("tls", False)},
        "services": {"http": {"up": [{"on": "GET /a", "reply": {"body": "fine\n"}}]}},
        "faults": [fault] if entry["kind"] else [],
        "expect": entry["expect"],
    }


@pytest.mark.parametrize("name", ENTRIES)
def test_a_handshake_that_fails_comes_to_what_it_proves(
    name: str, tmp_path: Path, capsys, monkeypatch
):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    entry = ENTRIES[name]
    case = tmp_path / "case.yaml"
    case.write_text(yaml.safe_dump(document(name, entry), sort_keys=False), "utf-8")

    cli.main(["run", str(case), "--out", str(tmp_path / "out"), "--json"])
    run = json.loads(capsys.readouterr().out)

    assert len(run["trials"]) == len(entry["kind"] or [""])
    for trial in run["trials"]:
        folder = tmp_path / "out" / trial["dir"]
        verdict = json.loads((folder / "verdict.json").read_text())
        assert verdict["verdict"] == entry["verdict"], verdict
        assert verdict["reasons"] == entry.get("reasons", []), verdict
        for record in verdict["faults"]:
            assert (record["count"], record["landed"]) == (entry["landed"], entry["landed"] > 0)
            assert re.search(entry["proof"], record["proof"]), record
        assert "ssl" not in (folder / "files.json").read_text()
