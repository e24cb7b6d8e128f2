"""``shakeout teeth``: sabotages are applied in the sandbox, proved, and judged exactly."""

from __future__ import annotations

from tests.functional.teeth.conftest import EXPECTED, Bench

BITE = """\
  - {name: key, breaks: [table], patch: "rules:TABLE", drop: rate_limit}
  - {name: member, breaks: [frozen], patch: "rules:FROZEN", drop: rate_limit}
  - {name: value, breaks: [limit], patch: "rules:LIMIT", value: 4}
  - {name: function, breaks: [bad], patch: "rules:Guard.allows", with: "with.py:allows"}
  - {name: in-mount, breaks: [data], change: {path: /opt/lib/data.txt, content: other}}
  - {name: in-workspace, breaks: [mine], change: {path: mine.txt, content: other}}
  - {name: in-home, breaks: [config], change: {path: ~/.agent, content: other}}
"""
ALL = f"""\
  - name: replaced
    breaks: [{", ".join(EXPECTED)}]
    replace_subject: {{command: [echo, hello]}}
"""
NOTHING = {
    "key": '{patch: "rules:TABLE", drop: none}',
    "name": '{patch: "rules:NONE", value: 1}',
    "module": '{patch: "none:TABLE", drop: network}',
    "value": '{patch: "rules:LIMIT", value: 3}',
    "function": '{patch: "rules:Guard.allows", with: "with.py:same"}',
    "file": "{change: {path: /opt/lib/none.txt, content: other}}",
    "content": '{change: {path: /opt/lib/data.txt, content: "plain\\n"}}',
    "workspace": "{change: {path: none.txt, content: other}}",
    "nowhere": "{change: {path: /etc/none, content: other}}",
    "words": "{replace_subject: {command: [python3, /opt/lib/agent.py]}}",
}


def test_each_kind_of_sabotage_is_applied_and_caught_by_exactly_what_it_names(bench: Bench):
    bench.case("a", BITE + ALL)

    ended, teeth = bench.teeth("-n", 2)

    assert {each["name"]: each["bites"] for each in teeth["sabotages"]} == dict.fromkeys(
        ("key", "member", "value", "function", "in-mount", "in-workspace", "in-home", "replaced"),
        True,
    )
    assert [each["verdict"] for each in teeth["cases"]] == ["passed", "passed"]
    assert (ended.code, teeth["toothless"]) == (0, [])
    assert "teeth shown by 8 of 8 sabotages" in ended.out
    assert (bench.run["asked"], bench.run["verdict"]) == ("teeth", "failed")
    assert bench.run["conclusion"].startswith("every sabotage broke exactly what it names")
    assert "<title>teeth shown " in (bench.folder / "out" / "report.html").read_text()


def test_a_sabotaged_trial_is_told_from_the_clean_one_by_its_digest_and_its_journal(bench: Bench):
    bench.case("a", '  - {name: value, breaks: [limit], patch: "rules:LIMIT", value: 4}\n')

    bench.teeth()
    clean, _, sabotaged = bench.run["trials"]

    assert sabotaged["dir"].endswith(".sabotage-value")
    assert sabotaged["subject"]["digest"] == clean["subject"]["digest"]
    assert (clean["subject"]["sabotage"], clean["sabotage"]) == (None, None)
    assert sabotaged["subject"]["sabotage"].startswith("sha256:")
    assert sabotaged["sabotage"] == {"name": "value", "of": "a", "breaks": ["limit"]}
    (told,) = [one for one in bench.journal(sabotaged) if one["event"] == "sabotaged"]
    assert told["processes"] == {"started": 2, "done": 1, "failed": 0}
    assert not (bench.folder / "out" / sabotaged["dir"] / "sabotage").exists()


def test_a_sabotage_that_changes_nothing_is_an_error_whatever_it_names(bench: Bench):
    sabotages = [
        f"  - {{name: {name}, breaks: [table], {way[1:]}\n" for name, way in NOTHING.items()
    ]
    bench.case("a", "".join(sabotages))

    ended, teeth = bench.teeth("-n", 2)

    assert {each["name"]: (each["reasons"], each["bites"]) for each in teeth["sabotages"]} == {
        name: (["sabotage-not-applied"], None) for name in NOTHING
    }
    assert ended.code == 4
    assert "teeth shown by 0 of 10 sabotages" in ended.out


def test_what_breaks_less_or_more_than_is_named_or_nothing_has_no_teeth(bench: Bench):
    bench.case(
        "a",
        """\
          - {name: less, breaks: [limit, bad], patch: "rules:LIMIT", value: 4}
          - {name: more, breaks: [table], replace_subject: {command: [echo, hello]}}
          - {name: other, breaks: [bad], patch: "rules:LIMIT", value: 4}
          - {name: no-op, breaks: [data], change: {path: /opt/lib/data.txt, content: " plain"}}
        """,
    )

    ended, teeth = bench.teeth("-n", 2)

    assert {each["bites"] for each in teeth["sabotages"]} == {False}
    assert ended.code == 1


def test_a_subject_that_keeps_the_hook_out_has_not_been_sabotaged(bench: Bench):
    bench.case("a", '  - {name: value, breaks: [limit], patch: "rules:LIMIT", value: 4}\n')
    path = bench.folder / "cases" / "a.yaml"
    path.write_text(
        path.read_text()
        .replace("[python3, /", "[python3, -I, /")
        .replace("agent.py]", "agent.py, child]")
    )

    ended, teeth = bench.teeth()

    (sabotage,) = teeth["sabotages"]
    assert sabotage["reasons"] == ["sabotage-not-applied"]
    assert "no Python process of the subject ran its start-up hook" in sabotage["message"]
    assert ended.code == 4


def test_a_case_without_a_sabotage_has_no_teeth(bench: Bench):
    bench.case("a", "")

    ended, teeth = bench.teeth()

    assert (ended.code, teeth["toothless"]) == (1, ["a"])
    assert "a has no teeth" in ended.out


def test_a_case_that_does_not_pass_as_it_is_shows_nothing(bench: Bench):
    bench.case(
        "a",
        '  - {name: value, breaks: [limit], patch: "rules:LIMIT", value: 4}\n',
        more="  - {id: never, file: {path: none, equals: x}}\n",
    )

    ended, teeth = bench.teeth()

    assert [each["bites"] for each in teeth["sabotages"]] == [False]  # never breaks beside it
    assert ended.code == 1


def test_a_known_defect_beside_a_sabotage_is_named_by_it(bench: Bench):
    known = """\
  - {id: never, file: {path: none, equals: x}}
control: {expect: [{id: limit, output: {stream: stdout, matches: 'limit 3'}}]}
known:
  - {subject: command, version: "==0", breaks: [never], because: It never does, since: "0"}
"""
    named = '  - {name: value, breaks: [limit, never], patch: "rules:LIMIT", value: 4}\n'
    bench.case("a", named, more=known)

    ended, teeth = bench.teeth()

    case, control = teeth["cases"]
    assert (case["verdict"], case["known"]["mark"]) == ("failed", "known")
    assert control["verdict"] == "passed"
    assert [each["bites"] for each in teeth["sabotages"]] == [True]
    assert ended.code == 0


def test_a_sabotage_that_breaks_only_what_was_broken_without_it_has_no_teeth(bench: Bench):
    """The control has another expectation under the same id, so that it never held."""
    known = """\
  - {id: never, file: {path: none, equals: x}}
control: {expect: [{id: never, file: {path: mine.txt, equals: own}}]}
known:
  - {subject: command, version: "==0", breaks: [never], because: It never does, since: "0"}
"""
    idle = '  - {name: idle, breaks: [never], patch: "rules:Kind", value: 4}\n'
    bench.case("a", idle, more=known)

    ended, teeth = bench.teeth()

    assert teeth["sabotages"][0]["broke"] == ["never"]
    assert [each["bites"] for each in teeth["sabotages"]] == [False]
    assert teeth["toothless"] == ["a/idle of command"]
    assert "a/idle of command has no teeth" in ended.out
    assert ended.code == 1


def test_the_matrix_has_every_sabotage_on_every_case_of_the_same_subject(bench: Bench):
    value = '  - {name: value, breaks: [limit], patch: "rules:LIMIT", value: 4}\n'
    key = '  - {name: key, breaks: [table], patch: "rules:TABLE", drop: network}\n'
    bench.case("a", value, task="same")
    bench.case("b", value + key, task="same")
    bench.case("c", ALL, task="same")
    path = bench.folder / "cases" / "c.yaml"
    path.write_text(path.read_text().replace("mine.txt: own", "mine.txt: own, more.txt: x"))

    ended, teeth = bench.teeth("--full", "-n", 2)

    matrix = teeth["matrix"]
    assert [name.partition(".")[0] for name in matrix["cases"]] == ["a", "b", "c"]
    seen = {
        (row["of"], row["name"]): {
            cell["on"].partition(".")[0]: (cell["broke"], cell["decides"]) for cell in row["cells"]
        }
        for row in matrix["rows"]
    }
    assert seen == {
        ("a", "value"): {"a": (["limit"], True), "b": (["limit"], False)},
        ("b", "value"): {"a": (["limit"], False), "b": (["limit"], True)},
        ("b", "key"): {"a": (["table"], False), "b": (["table"], True)},
        ("c", "replaced"): {"c": (sorted(EXPECTED), True)},
    }
    kinds = [trial["kind"] for trial in bench.run["trials"]]
    assert kinds.count("sabotage") == 5  # what does the same to a case is tried once
    assert ended.code == 0
    assert "Xx   a/value of command" in ended.out


def test_nothing_selected_is_exit_3(bench: Bench):
    bench.case("a", ALL)

    ended, teeth = bench.teeth("-k", "nothing-like-it")

    assert (ended.code, teeth["sabotages"]) == (3, [])
