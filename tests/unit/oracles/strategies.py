"""Evidence and expectations for properties of oracles: a small world, in which things meet.

``EVIDENCE`` draws each field of :class:`Evidence` as a trial may leave it; ``WRITTEN`` what a
case may write for each oracle; ``READS`` says which fields an oracle looks at, and no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from harness.evidence.model import (
    Clocks,
    Evidence,
    FaultRecord,
    FileChange,
    Happening,
    Lingering,
    Network,
    Output,
    Processes,
    Request,
    SecretHit,
)
from sandboxes.base import Act, Depth, Root
from tests.unit.oracles.making import FOLDER, ran, request, state
from tests.unit.oracles.pictures import GIT, PICTURES

Drawn = st.SearchStrategy[Any]

COUNT = st.integers(0, 4)
TIMES = st.integers(1, 4)
TEXT = st.text("ab \n", max_size=6)
PATTERN = st.sampled_from(["a", "^b", "a$", "a\\b", "a\\B", "b+", "(?s)a.*b", "\\Aa", "a\\Z", " "])
NAMES = ["x", "d/x", "d/.y", ".claude/x", ".git/index", ".gitignore", ".bashrc"]
GLOBS = [*NAMES, "d/**", "**/x", "*", ".claude/**", "d", ".git/**", "**"]
SERVICES = ["model", "up", "tg"]
FILES = ["x", "d/x", "~/x", "/etc/x"]
KEYS = [
    (Root.WORKSPACE, "x"),
    (Root.WORKSPACE, "d/x"),
    (Root.HOME, "x"),
    (Root.SYSTEM, "/etc/x"),
]


def lists(one: Drawn, most: int = 3) -> Drawn:
    return st.lists(one, max_size=most)


# -- what was seen


@st.composite
def changes(draw: st.DrawFn, root: Root | None = None) -> FileChange:
    """One path, and what became of it."""
    root = root or draw(st.sampled_from(Root))
    path = draw(st.sampled_from([*NAMES, "d", "new/x", "new"]))
    path = f"/{path}" if root is Root.SYSTEM else path
    how = draw(st.sampled_from(["added", "changed", "removed", "retyped", "meta"]))
    kind = FOLDER if path.endswith(("d", "new")) else state(draw(TEXT))
    before = None if how == "added" else kind
    after = None if how == "removed" else kind
    return FileChange(root, path, how, before, after, draw(st.sampled_from(["planted", "other"])))


@st.composite
def requests(draw: st.DrawFn) -> list[Request]:
    """As the services note them: numbered in the order in which they came."""
    made = st.builds(
        request,
        st.sampled_from(SERVICES),
        kind=st.sampled_from(["turn", "side", "probe", "beyond"]),
        method=st.sampled_from(["GET", "POST"]),
        path=st.sampled_from(["/a", "/a/b?c=d", "/v1/messages"]),
        body_sha256=st.sampled_from(["0" * 64, "1" * 64]),
        status=st.sampled_from([200, 429]),
        fault=st.sampled_from([None, "cut", "cut,slow"]),
        ended=st.sampled_from(["whole", "cut"]),
        tokens_in=st.integers(0, 3),
        tokens_out=st.integers(0, 3),
        model=st.sampled_from([None, "gpt-5", "gpt-5-2026-01-01", "mine"]),
        tool_result=st.none() | TEXT,
        message=st.none() | TEXT,
    )
    return [numbered(one, n) for n, one in enumerate(draw(lists(made, 4)), 1)]


def numbered(one: Request, number: int) -> Request:
    """The request as the so-manieth."""
    facts = {name: getattr(one, name) for name in Request.__slots__}
    return Request(**{**facts, "seq": number, "t": number / 4})


@st.composite
def outputs(draw: st.DrawFn) -> Output:
    text, more = draw(TEXT), draw(st.sampled_from([0, 0, 9]))
    return Output(text.encode(), len(text) + more, capped=more > 0)


LINE = st.sampled_from(['{"a": "b", "n": 1}', '{"a": "c"}', "[]", "need a"])
CONTENTS = TEXT | lists(LINE).map("\n".join)
LOOKS = lists(lists(st.builds(Lingering, COUNT, COUNT, st.just("S"), st.just(("sleep",)))))
#: In the order in which they come, but for the healing.
HAPPENED = [
    ("step", "start", 1),
    ("started", "", 0),
    ("armed", "cut", 0),
    ("step", "wait", 2),
    ("armed", "full", 0),
    ("healed", "cut", 0),
    ("ended", "", 0),
]
HAPPENINGS = st.sets(st.integers(0, len(HAPPENED) - 1)).map(
    lambda found: [Happening(n / 3 + 0.01, *HAPPENED[n]) for n in sorted(found)]
)
TRIES = st.dictionaries(
    st.tuples(st.sampled_from(Depth), st.sampled_from(Act)).map(".".join), TIMES, max_size=3
)
WHERE = ["stdout", "stderr", "request:model:1", "request:up:2", "request:names:0"]
WHERE += ["file:workspace:x", "file:home:.claude/x", "file:home:x", "file:system:/etc/x"]
HITS = st.builds(
    SecretHit, st.just("TOKEN"), st.sampled_from(["plain", "hex"]), st.sampled_from(WHERE)
)
#: How a subject ended: with a code, stopped by the harness, or never run.
ENDINGS = st.sampled_from(
    [("exit", 0), ("exit", 3), ("signal", 137), ("step", None), ("exit", None), ("lost", None)]
)
RAN = st.sampled_from([("exit", 0), ("exit", 3), ("signal", 143), ("step", None)])

FIELDS: Mapping[str, Drawn] = {
    "changes": lists(changes()),
    "paths": st.fixed_dictionaries(
        {}, optional={key: st.none() | CONTENTS.map(state) for key in KEYS}
    ),
    "contents": st.just({}),
    "sentinels": st.dictionaries(
        st.sampled_from([".bashrc", "x"]),
        st.just((True, True)) | st.tuples(st.booleans(), st.booleans()),
    ),
    "listed": st.just(frozenset(Root)) | st.frozensets(st.sampled_from(Root)),
    "requests": requests(),
    "stdout": outputs(),
    "stderr": outputs(),
    "processes": st.builds(
        lambda observed, looks: Processes(
            observed, [(n / 2, found) for n, found in enumerate(looks)]
        ),
        st.sampled_from([True, True, True, False]),
        LOOKS,
    ),
    "network": st.builds(
        Network,
        st.dictionaries(st.sampled_from(["a.test", "b.a.test", "c.test"]), st.integers(1, 3)),
        st.none() | COUNT,
        st.just({"192.0.2.1/tcp/80": 1}),
        dropped=st.sampled_from([0, 0, 2]),
    ),
    "faults": lists(
        st.builds(
            FaultRecord,
            st.sampled_from(["cut", "full"]),
            st.just("model.cut"),
            st.booleans(),
            st.booleans(),
            COUNT,
            st.just("proof"),
        )
    ),
    "final_text": st.sampled_from([None, "a", "b a", "a\nb", ""]),
    "secrets": st.none() | lists(HITS, 2),
    "own": lists(st.sampled_from([".claude/**", "d/**"]), 1),
    "prices": st.dictionaries(st.just("mine"), st.tuples(COUNT.map(float), COUNT.map(float))),
    "timeline": HAPPENINGS,
    "attempts": st.dictionaries(st.sampled_from(["/workspace/x", "curl"]), st.none() | TRIES),
    "clocks": st.builds(
        Clocks,
        st.none() | st.dictionaries(st.sampled_from(["date", "sh"]), TIMES),
        st.sampled_from([None, 0.0, 0.05, 5.0]),
    ),
    "notes": st.fixed_dictionaries(
        {"git": PICTURES}, optional={"unscanned": lists(st.just("stdout"), 1)}
    ),
}


@st.composite
def evidence(draw: st.DrawFn, fields: Iterable[str] = FIELDS, ending: Drawn = ENDINGS) -> Evidence:
    """Evidence in which these fields are drawn, and the others are those of a quiet run."""
    by, code = draw(ending)
    facts = {name: draw(FIELDS[name]) for name in FIELDS if name in fields}
    found = ran(ended_by=by, exit_code=code, **facts)
    return with_contents(draw, found) if "contents" in facts else found


def with_contents(draw: st.DrawFn, found: Evidence) -> Evidence:
    """The same with the contents of some of its files, of which it has the digests."""
    contents = {}
    for key, seen in found.paths.items():
        text = draw(CONTENTS)
        if seen is not None and draw(st.sampled_from([True, True, False])):
            contents[key] = text.encode()
    digests = {key: state(data.decode()) for key, data in contents.items()}
    facts = {name: getattr(found, name) for name in Evidence.__slots__}
    return Evidence(**{**facts, "paths": {**found.paths, **digests}, "contents": contents})


# -- what a case writes


def some_of(properties: Mapping[str, Drawn], least: int = 1, **always: Drawn) -> Drawn:
    """A map with some of these, at least so many, and with all of ``always``."""
    drawn = st.fixed_dictionaries(always, optional=dict(properties))
    return drawn.filter(lambda found: len(found) >= least + len(always))


def bounds(**more: Drawn) -> Drawn:
    """Bounds, of which at least one can be broken, and perhaps something more."""
    counts = some_of({"exactly": COUNT, "at_least": st.integers(1, 4), "at_most": COUNT})
    return st.builds(lambda a, b: {**a, **b}, counts, st.fixed_dictionaries({}, optional=more))


ASKED: Mapping[str, Drawn] = {
    "service": st.sampled_from(SERVICES),
    "method": st.sampled_from(["GET", "post"]),
    "path": st.sampled_from(["/a", "/a/*", "/**"]),
    "kind": st.sampled_from(["turn", "side", "probe", "beyond", "all"]),
    "tool_result": PATTERN,
}
GLOB_LISTS = st.lists(st.sampled_from(GLOBS[:-1]), min_size=1, max_size=3)
REQUESTS = bounds(**ASKED)
ATTEMPTS = st.one_of(
    bounds(
        act=st.sampled_from([a.value for a in Act if a is not Act.LOCK]), beneath=st.booleans()
    ).map(lambda found: {"path": "x", **found}),
    bounds().map(lambda found: {"program": "curl", **found}),
    st.builds(
        lambda found, asked: {"request": asked, **found},
        bounds(),
        st.fixed_dictionaries({}, optional={**ASKED, "same": st.sampled_from(["body", "target"])}),
    ),
)
SPEND = some_of({"usd_at_most": st.sampled_from([0, 1e-6, 1]), "tokens_at_most": COUNT})
NETWORK = some_of(
    {"beyond_services": COUNT, "names": lists(st.sampled_from(["a.test", "*.test", "*.a.test"]))}
)
ESCALATIONS = bounds(
    reason=PATTERN,
    distinct=st.booleans(),
    sinks=st.sampled_from([["tg"], ["up", "tg"], ["tg", "file:x"], ["tg", "file:x", "file:~/x"]]),
).map(lambda found: {"count" if key == "exactly" else key: found[key] for key in found})
MATCHERS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            **ASKED,
            "status": st.just(200),
            "fault": st.just("cut"),
            "number": st.integers(1, 2),
        },
    ).map(lambda found: {"request": found}),
    st.sampled_from(["cut", {"id": "cut", "was": "landed"}, {"id": "full", "was": "landed"}]).map(
        lambda found: {"fault": found}
    ),
    st.sampled_from([1, 2, "start", "wait"]).map(lambda found: {"step": found}),
    st.sampled_from(["started", "ended"]).map(lambda found: {"process": found}),
)
ORDER = st.one_of(
    st.lists(MATCHERS, min_size=2, max_size=3),
    st.just([{"step": "start"}, {"process": "ended"}]),
    some_of(
        {"within": st.sampled_from(["100ms", "1s"]), "never_after": MATCHERS},
        of=st.lists(MATCHERS, min_size=1, max_size=2),
    ),
)
HOME = st.just("untouched") | st.fixed_dictionaries(
    {"untouched": st.just(True)}, optional={"allow": lists(st.sampled_from(GLOBS))}
)
FILE = st.builds(
    lambda found, path: {"path": path, **found},
    st.just({"absent": True})
    | some_of(
        {
            "equals": CONTENTS,
            "matches": PATTERN,
            "mode": st.sampled_from(["0644", "0600"]),
            "sha256": CONTENTS.map(lambda text: hashlib.sha256(text.encode()).hexdigest()),
        },
    ).flatmap(
        lambda found: st.sampled_from(
            [found, {**found, "absent": "allowed"}, {**found, "absent": False}]
        )
    ),
    st.sampled_from(FILES),
)
EXIT = st.sampled_from([0, 3, 137, [0, 3], "nonzero"])
OUTPUT = some_of(
    {"matches": PATTERN, "lacks": PATTERN}, stream=st.sampled_from(["stdout", "stderr"])
)
WITNESS = st.one_of(
    REQUESTS.map(lambda found: {"requests": found}),
    SPEND.map(lambda found: {"spend": found}),
    ATTEMPTS.map(lambda found: {"attempts": found}),
    NETWORK.map(lambda found: {"network": found}),
    ORDER.map(lambda found: {"order": found}),
    ESCALATIONS.map(lambda found: {"escalations": found}),
)
EVENTS = st.builds(
    lambda found, beside: {"file": "x", "beside": beside, **found},
    st.just({"at_most": 4}) | bounds(where=st.sampled_from([{"a": "b"}, {"n": 1}, {"n": True}])),
    st.just({"requests": {"kind": "all", "at_most": 4}}) | WITNESS,
)
FILES_WRITTEN = some_of(
    {"changed_only": GLOB_LISTS, "unchanged": GLOB_LISTS | st.just(["**"])},
    root=st.sampled_from(["workspace", "home"]),
)
OTHERS = st.one_of(
    HOME.map(lambda found: {"home": found}),
    FILE.map(lambda found: {"file": found}),
    EXIT.map(lambda found: {"exit": found}),
    OUTPUT.map(lambda found: {"output": found}),
    REQUESTS.map(lambda found: {"requests": found}),
)

WRITTEN: Mapping[str, Drawn] = {
    "home": HOME,
    "files": FILES_WRITTEN,
    "file": FILE,
    "git": GIT,
    "exit": EXIT,
    "output": OUTPUT,
    "processes": st.just("none-left")
    | st.builds(
        lambda name, count, after: {name: count, "after": after},
        st.sampled_from(["left", "at_most"]),
        COUNT,
        st.sampled_from(["0s", "600ms", "9s"]),
    ),
    "network": NETWORK,
    "requests": REQUESTS,
    "escalations": ESCALATIONS,
    "spend": SPEND,
    "secrets": st.just("absent")
    | st.fixed_dictionaries(
        {"absent": st.just(True)},
        optional={
            "except": lists(st.sampled_from(SERVICES)),
            "streams": lists(st.sampled_from(["stdout", "stderr"])),
            "own": st.booleans(),
        },
    ),
    "order": ORDER,
    "attempts": ATTEMPTS,
    "clock": some_of(
        {"isolated": st.just(True), "read": bounds(program=st.sampled_from(["date", "other"]))}
    ),
    "events": EVENTS,
    "claims": st.builds(lambda says, yet: {"says": says, "yet": yet}, PATTERN, OTHERS),
}

_COUNTED = {"requests", "prices", "attempts", "network", "faults", "timeline", "paths", "contents"}
#: The fields that each looks at, beside how the subject ended.
READS: Mapping[str, set[str]] = {
    "home": {"changes", "listed", "sentinels", "own"},
    "files": {"changes", "listed", "own"},
    "file": {"paths", "contents"},
    "git": {"notes"},
    "exit": set(),
    "output": {"stdout", "stderr"},
    "processes": {"processes"},
    "network": {"network"},
    "requests": {"requests"},
    "escalations": {"requests", "paths", "contents"},
    "spend": {"requests", "prices"},
    "secrets": {"secrets", "own", "notes"},
    "order": {"requests", "timeline", "faults"},
    "attempts": {"attempts", "requests"},
    "clock": {"clocks"},
    "events": _COUNTED,
    "claims": {"final_text", "changes", "listed", "sentinels", "own", "paths", "contents"}
    | {"stdout", "stderr", "requests"},
}
#: Those that do not ask how the subject ended.
NO_ENDING = {"home", "files", "file", "processes", "network"}


def asked(oracle: str, ending: Drawn = ENDINGS) -> Drawn:
    """What a case may write for an oracle, with evidence for it to look at."""
    return st.tuples(WRITTEN[oracle], evidence(READS[oracle], ending))
