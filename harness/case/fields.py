"""The keys of a case, each with its schema and its description.

What the registries add (parameters of faults, oracles, services and subjects) is put in by
:mod:`harness.case.schema`. The order here is the order in which ``explain`` shows them.
"""

from __future__ import annotations

from harness.case.pieces import (
    Schema,
    choice,
    either,
    flag,
    formatted,
    listing,
    number,
    one_key_of,
    record,
    ref,
    table,
    text,
    whole,
)
from harness.case.repo import WORK_TREE
from sandboxes.base import CAPABILITIES
from sandboxes.trusted import CERTIFICATE

_NAME = "^[A-Za-z_][A-Za-z0-9_]*$"
ID = "^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$"
CASE_ID = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"

PLANTED: Schema = either(
    "a path to plant: the text of a file, or a map that says what it is",
    text("the text of the file; mode 0755 where it starts with #!, else 0644"),
    record(
        "what to plant, and its mode",
        {
            "text": text("the text of a file"),
            "base64": text("the bytes of a file, in base64"),
            "link": text("what a symbolic link points to", minLength=1),
            "dir": flag("an empty folder", enum=[True]),
            "mode": text("octal permission bits, quoted", title="mode", pattern="^0[0-7]{3}$"),
        },
        oneOf=one_key_of("text", "base64", "link", "dir"),
    ),
)

ARGV: Schema = listing(
    "a program and its arguments; no shell is involved; {task}, {model}, {workspace} and {home} "
    "are replaced inside words, {{ and }} are literal braces",
    text("one word"),
    minItems=1,
)

TRIGGER: Schema = either(
    "when something happens",
    choice("before the first step", "start"),
    record(
        "at a request, after a time, on output, or when a path appears",
        {
            "request": whole("the number of the request, from 1, retries included", minimum=1),
            "service": text("whose requests are counted", default="model"),
            "after": formatted("duration", "so long after the first step"),
            "output": formatted("regex", "when stdout or stderr matches"),
            "file": text("when this path appears; ~/… is in the home, else in the workspace"),
        },
        oneOf=one_key_of("request", "after", "output", "file"),
        dependentRequired={"service": ["request"]},
    ),
)

SANDBOX: Schema = record(
    "what the case asks of its sandbox",
    {
        "network": choice(
            "services: the declared services and nothing else; none: not even those",
            "none",
            "services",
            default="services",
        ),
        "limits": record(
            "hard limits; one that is written is a required capability, a default one is applied "
            "where it can be",
            {
                "memory": formatted("size", "memory of all processes together", default="2GiB"),
                "pids": whole("processes and threads", minimum=1, maximum=4_000_000, default=512),
                "disk": formatted(
                    "size", "what can be written; not more than memory", default="1GiB"
                ),
                "seconds": number(
                    "the trial's own limit", exclusiveMinimum=0, maximum=86_400, default=60
                ),
            },
        ),
        "clock": record(
            "the wall clock that the subject sees",
            {
                "at": formatted("instant", "what it shows when the subject starts"),
                "zone": text("name of a time zone, such as Asia/Kathmandu"),
            },
        ),
        "tls": flag(
            "whether every service answers on TLS too, on ports 443 and 8443, with a certificate of "
            "an authority that the system inside trusts; the fault upstream.tls-failure has it so "
            f"by itself. Programs with a list of their own need its file, {CERTIFICATE}, in env: "
            "SSL_CERT_FILE, NODE_EXTRA_CA_CERTS or REQUESTS_CA_BUNDLE",
            default=False,
        ),
        "needs": listing(
            "further capabilities without which the case is unavailable",
            choice("a capability of the sandbox", *CAPABILITIES, title="capability"),
            uniqueItems=True,
        ),
    },
)

WORKSPACE: Schema = record(
    "what the workspace starts with",
    {
        "files": table("path in the workspace to what is planted there", ref("planted")),
        "git": WORK_TREE,
        "mount": table(
            "host path, relative to the case file, to an absolute path inside; read-only",
            text("absolute path inside"),
        ),
    },
)

KNOWN: Schema = listing(
    "defects of somebody else's agent: failed stays failed, marked known, without raising the "
    "exit code",
    record(
        "one known defect",
        {
            "subject": text("the registered subject that has it"),
            "version": formatted("version-range", "the versions that have it, as in PEP 440"),
            "breaks": listing("ids of the expectations that it breaks", text("an id"), minItems=1),
            "because": text("what is wrong with the agent", minLength=1),
            "since": text("since when it is known", minLength=1),
        },
        ("subject", "version", "breaks", "because", "since"),
    ),
)

QUARANTINE: Schema = record(
    "keeps the case out of the exit code until a date, never out of the report",
    {
        "owner": text("who takes it out again", minLength=1),
        "reason": text("why", minLength=1),
        "until": formatted("date", "the last day, in UTC"),
    },
    ("owner", "reason", "until"),
)

SABOTAGE: Schema = listing(
    "protections to remove from the copy of the subject, one at a time: shakeout teeth runs the "
    "case without each, and it must break exactly the expectations that are named; one that "
    "changes nothing is an error",
    record(
        "one sabotage: a patch with drop, value or with; another subject; or a changed file",
        {
            "name": text("its name, unique in the case", title="name", pattern=CASE_ID),
            "breaks": listing("ids of the expectations it breaks", text("an id"), minItems=1),
            "patch": text(
                "what to replace in a Python subject, as module:qualname, when it is imported",
                title="place in the code",
                pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$",
                examples=["runtime.recovery.guard:TABLE"],
            ),
            "drop": text("with patch: a key or an element to drop from it"),
            "value": {"description": "with patch: another value to put there"},
            "with": text(
                "with patch: the function to put there, as file.py:function",
                title="function",
                pattern=r"^[^:\0]+\.py:[A-Za-z_]\w*$",
                examples=["nothing.py:allow"],
            ),
            "replace_subject": record(
                "run another program as the subject", {"command": ref("argv")}, ("command",)
            ),
            "change": record(
                "a file of the subject with other content",
                {
                    "path": text(
                        "which: in a mount, in the workspace, or ~/… in the home", minLength=1
                    ),
                    "content": text("its new text"),
                },
                ("path", "content"),
            ),
        },
        ("name", "breaks"),
        oneOf=one_key_of("patch", "replace_subject", "change"),
        dependentRequired={"drop": ["patch"], "value": ["patch"], "with": ["patch"]},
    ),
)

CONTROL: Schema = record(
    "the clean control, which must pass; what is left out is as in the case, without its faults",
    {
        "script": ref("script", "the model's turns of the control"),
        "stimulus": ref("expectations", "instead of the case's stimulus"),
        "expect": ref("expectations", "instead of the case's expectations"),
    },
)

STEPS: Schema = listing(
    "what the harness does, in order",
    either(
        "one step",
        choice("start the subject", "start", title="step"),
        record(
            "wait, run, kill or restart",
            {
                "wait": choice("until the main process has ended; at_most: how long", "exit"),
                "at_most": formatted("duration", "with wait: how long"),
                "then": choice(
                    "with at_most: what is done after that",
                    "terminate",
                    "kill",
                    "continue",
                    default="terminate",
                ),
                "run": ref("argv", "a command inside, waited for"),
                "as": choice("with run: who runs it", "agent", "root", default="agent"),
                "kill": either(
                    "a signal to the main process",
                    formatted("signal", "its name"),
                    whole("its number", minimum=1, maximum=64),
                ),
                "restart": record("start the same argv again", {}),
            },
            oneOf=one_key_of("wait", "run", "kill", "restart"),
            dependentRequired={"at_most": ["wait"], "then": ["at_most"], "as": ["run"]},
        ),
    ),
    minItems=1,
    default=["start", {"wait": "exit"}],
)

FIELDS: dict[str, Schema] = {
    "schema": {"const": 1, "description": "version of this format"},
    "case": text(
        "the case's id, unique in a run",
        title="case id",
        pattern=CASE_ID,
        maxLength=64,
        examples=["rate-limit-once"],
    ),
    "title": text("one line for people"),
    "proves": text("the promise that the case stands for, in the words of its source"),
    "tags": listing(
        "words to select by",
        text("a tag", title="tag", pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$", examples=["recovery"]),
        uniqueItems=True,
    ),
    "subject": ref("subject", "what is tested"),
    "subjects": listing(
        "instead of subject: several, one trial each", ref("subject"), minItems=1, uniqueItems=True
    ),
    "task": text("what the subject is asked to do", default=""),
    "sandbox": SANDBOX,
    "home": table("path in the decoy home to what is planted there", ref("planted")),
    "workspace": WORKSPACE,
    "env": table("environment variables beside the harness's own", text("its value")),
    "secrets": listing(
        "names of variables that each carry a fresh canary, which must appear nowhere; "
        "implies the secrets oracle",
        text("a variable", title="variable name", pattern=_NAME, examples=["API_TOKEN"]),
        uniqueItems=True,
    ),
    "script": ref(
        "script",
        'the model\'s turns; without it every turn gets "Done."; after the last one a request is '
        "recorded as kind beyond, and answered with a 400, which clients do not retry",
    ),
    "leftover": choice("whether turns of the script may be left over", "allowed"),
    "prices": table(
        "dollars per million tokens, by model; a default table covers the best known",
        record(
            "of one model",
            {
                "input": number("of what it reads", minimum=0),
                "output": number("of what it writes", minimum=0),
            },
            ("input", "output"),
        ),
    ),
    "services": ref("services"),
    "faults": ref("faults", "what goes wrong"),
    "steps": STEPS,
    "stimulus": ref("expectations", "where no fault is declared: that the provocation happened"),
    "expect": ref("expectations", "what must hold; without any the case is unavailable"),
    "control": CONTROL,
    "sabotage": SABOTAGE,
    "known": KNOWN,
    "quarantine": QUARANTINE,
}
