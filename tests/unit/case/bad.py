"""Bad case files: ``§`` stands before each place that must be named, and for nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bad:
    """A file, and what must be said of it, one text for each place in order."""

    name: str
    text: str
    says: tuple[str, ...]

    @property
    def clean(self) -> str:
        return self.text.replace("§", "")

    @property
    def places(self) -> list[tuple[int, int]]:
        return [
            (number, column)
            for number, line in enumerate(self.text.split("\n"), 1)
            for column in columns(line)
        ]


def columns(line: str) -> list[int]:
    """Where the marks stand, not counting the marks themselves; ``§§`` is two errors there."""
    return [at - line[:at].count("§") + 1 for at, char in enumerate(line) if char == "§"]


def bad(name: str, more: str, *says: str, head: str = "case: x\nsubject: codex\n") -> Bad:
    return Bad(name, head + more, says)


SYNTAX = [
    bad("a tab as indentation", "home:\n§\ta: b\n", "spaces, not tabs"),
    bad("a colon in plain text", "title: one§: two\n", "in quotes"),
    bad(
        "a key without its colon",
        "script§\n  - {say: a}\n",
        "after the key 'script'; write script:",
    ),
    bad("a key without its colon above a list", "script§\n- {say: a}\n", "after the key 'script'"),
    bad(
        "a key without its colon above a map", "sandbox§\n  limits: {pids: 5}\n", "write sandbox:$"
    ),
    bad("a key without its colon at the end", "script§\n", "after the key 'script'"),
    bad("a key without its colon before its value", "title§ a\ntask: b\n", "write title: a$"),
    bad("a key without the space after its colon", "title:§a\ntask: b\n", "no space.*title: a$"),
    bad(
        "a key without its colon in a list",
        "faults:\n  - fault§ model.reset\n    times: 1\n",
        "write fault: model.reset$",
    ),
    bad(
        "an entry of a list without its colon",
        "steps:\n  - start\n  - wait§ exit\n    at_most: 3s\n",
        "write wait: exit$",
    ),
    bad("a colon in plain text that goes on below", "title: a\n  b\n  c§: d\n", "in quotes"),
    bad("a quote without end", 'title: "one\n§', "no YAML"),
    bad("a bracket without end", "tags: [a, b\n§", "no YAML"),
    bad("a key twice", "title: a\n§title: b\n", "a second time, first at line 3, column 1"),
    bad("a key twice in a flow map", "env: {A: x, B: y, §A: z}\n", "first at line 3, column 7"),
    bad("a second document", "§---\ncase: y\n", "second document"),
    bad("a merge key", "env: {A: x, §<<: {B: y}}\n", "merge keys"),
    bad("a foreign tag", "title: §!!python/name:os.system x\n", "tag"),
    bad("a binary tag", "title: §!!binary aGk=\n", "tag"),
    bad("an int tag on text", "title: §!!int abc\n", "is no int"),
    bad("an alias without anchor", "title: §*a\n", "no anchor 'a'"),
    bad("an alias in itself", "tags: &a [§*a]\n", "what it is in"),
    bad("a map as a key", "env: {§{a: b}: c}\n", "plain text"),
    bad("not a number", "prices: {m: {input: §.nan, output: 1}}\n", "no number that fits"),
    bad("an infinite number", "prices: {m: {input: §1e999, output: 1}}\n", "no number that fits"),
    bad("half a surrogate pair", 'title: "\\u§d800"\n', "surrogate|escape"),
    Bad("an empty file", "§", ("came nothing",)),
    Bad("a list", "§- a\n", ("expected a map, came a list",)),
    Bad("plain text", "§hello\n", ("expected a map",)),
]

STRUCTURE = [
    bad("an unknown key", "§tytle: a\n", "unknown key 'tytle'; did you mean title"),
    bad("an unknown key unlike all", "§zzz: a\n", "script, secrets, services, steps, .*workspace"),
    bad("a limit at the top", "§timeout: 5s\n", "write sandbox.limits.seconds"),
    bad("limits at the top", "§limits: {seconds: 5}\n", "sandbox: {limits: {seconds: 30}}"),
    bad("a model at the top", "§model: a\n", "under script"),
    bad("an id that does not fit", "expect: [{home: untouched, id: §A B}]\n", "write a-z"),
    bad("a host name that does not fit", "services: {http: {§A_B: []}}\n", "write a host name"),
    bad(
        "a service without its name",
        "services: {telegram: {token: §abc}}\n",
        "a host name goes first: telegram: {NAME: {token: abc}}",
    ),
    bad("a key in the wrong case", "§Title: a\n", "did you mean title"),
    bad("no id", "subject: codex\n", "lacks case; write case: rate-limit-once", head="§"),
    bad("an id with capitals", "subject: codex\n", "'Abc' is no case id", head="case: §Abc\n"),
    bad(
        "an id that ends in a new line", "subject: codex\n", "no case id", head='case: §"abc\\n"\n'
    ),
    bad("an id that is a number", "subject: codex\n", "in quotes", head="case: §42\n"),
    bad("an id that is too long", "subject: codex\n", "64", head=f"case: §{'a' * 65}\n"),
    bad("a yes for true", "workspace: {git: §yes}\n", "write true or false"),
    bad("text for a number", "sandbox: {limits: {pids: §many}}\n", "expected a whole number"),
    bad("a fraction for a count", "sandbox: {limits: {pids: §1.5}}\n", "expected a whole number"),
    bad(
        "a whole float for a count", "sandbox: {limits: {pids: §5.0}}\n", "expected a whole number"
    ),
    bad(
        "true for a number", "sandbox: {limits: {seconds: §true}}\n", "expected a number, came true"
    ),
    bad("no seconds at all", "sandbox: {limits: {seconds: §0}}\n", "more than 0"),
    bad(
        "a quoted number and more",
        "sandbox: {limits: {pids: §'12345678901234567890 x'}}\n",
        "expected",
    ),
    bad(
        "a quoted number without an end",
        f"sandbox: {{limits: {{pids: §'{'9' * 5000}'}}}}\n",
        "expected",
    ),
    bad("a number for a variable", "env: {A: §1}\n", "put it in quotes"),
    bad("a null", "home:§\n", "came nothing"),
    bad("tags as text", "tags: §recovery\n", "expected a list, came the text 'recovery'"),
    bad("a tag twice", "tags: [a, §a]\n", "same as entry 1"),
    bad("another format", "schema: §2\n", "expected 1"),
    bad("an unknown network", "sandbox: {network: §service}\n", "did you mean services"),
    bad("an unknown capability", "sandbox: {needs: [§freze]}\n", "capability.*did you mean freeze"),
    bad("an unknown word for leftover", "leftover: §allow\n", "did you mean allowed"),
    bad("a price without output", "prices: {m: §{input: 1}}\n", "m lacks output"),
    bad("a mode that is a number", "home: {a: {text: x, mode: §0644}}\n", "put it in quotes"),
    bad("a mode that is none", 'home: {a: {text: x, mode: §"0999"}}\n', "is no mode"),
    bad("a planted file of two kinds", "home: {a: {text: x, §link: y}}\n", "beside text"),
    bad("a planted file of no kind", 'home: {a: §{mode: "0600"}}\n', "none of .*exactly one"),
    bad("a folder that is none", "home: {a: {dir: §false}}\n", "false"),
]

KINDS = [
    bad(
        "a duration without unit",
        "faults: [{fault: process.kill, when: {after: §5}}]\n",
        "expected a duration, came the number 5; write a duration such as 5s$",
    ),
    bad(
        "a duration for a trigger",
        "faults: [{fault: process.kill, when: §5s}]\n",
        "start or a map.*; write {after: 5s}$",
    ),
    bad(
        "a wait's limit without unit",
        "steps: [start, {wait: exit, at_most: §20}]\n",
        "duration such as 20s$",
    ),
    bad(
        "a parameter's duration without unit",
        "services: {http: {up: []}}\n"
        "faults: [{fault: upstream.slow, with: {service: up, delay: §2}}]\n",
        "a duration such as 2s$",
    ),
    bad(
        "a number of times in quotes",
        'faults: [{fault: model.truncate, times: §"1"}]\n',
        "write 1 without quotes, or always$",
    ),
    bad(
        "a repeat in quotes", 'script: [{say: a, repeat: §"2"}]\n', "write 2 without quotes, or al"
    ),
    bad(
        "a number of times in another word",
        "faults: [{fault: model.truncate, times: §forever}]\n",
        "write a whole number or always$",
    ),
    bad(
        "a fraction of times",
        "faults: [{fault: model.truncate, times: §1.5}]\n",
        "number 1.5; write a whole number or always$",
    ),
    bad("a number in quotes", 'sandbox: {limits: {pids: §"60"}}\n', "write 60 without quotes$"),
    bad(
        "a request in quotes",
        'faults: [{fault: process.kill, when: {request: §"1"}}]\n',
        "write 1 w",
    ),
    bad("seconds as a duration", "sandbox: {limits: {seconds: §2m}}\n", "write 120$"),
    bad("true in quotes", 'workspace: {git: §"true"}\n', "write true without quotes$"),
    bad("a word for true alone", "home: {a: {dir: §yes}}\n", "write true$"),
    bad("true where a word is", "leftover: §true\n", "cannot be true; write leftover: allowed"),
    bad("a size in bytes", "sandbox: {limits: {memory: §1073741824}}\n", "a size such as 1GiB$"),
    bad("a year for a date", "quarantine: {owner: a, reason: b, until: §2031}\n", "as 2031-12-31$"),
    bad(
        "a year for a point in time", "sandbox: {clock: {at: §2031}}\n", "as 2031-02-03T04:05:06Z$"
    ),
    bad(
        "a number for a range of versions",
        "known: [{subject: codex, version: §1.2, breaks: [home], because: b, since: s}]\n",
        "a range of versions such as >=1.2,<2$",
    ),
    bad("a true for a signal", "steps: [start, {kill: §true}]\n", "write a signal such as TERM$"),
    bad("a mode without its zero", "home: {a: {text: x, mode: §644}}\n", "with its leading zero$"),
    bad("a word for a list", "secrets: §API\n", "write .API.$"),
    bad("a map for a list", "expect: §{home: untouched}\n", "put it in a list"),
    bad("a fault's name alone", "faults: [§model.status]\n", "write {fault: model.status}$"),
    bad("a number for a planted file", "home: {a: §5}\n", "put it in quotes$"),
]

MISSPELT = [
    bad("a fault, misspelt", "faults: [{§fualt: model.reset}]\n", "did you mean fault"),
    bad(
        "a kind of trigger, misspelt",
        "faults: [{fault: process.kill, when: {§reqest: 1}}]\n",
        "mean r",
    ),
    bad("a kind of planted file, misspelt", "home: {a: {§txt: x}}\n", "mean text"),
    bad(
        "a kind of sabotage, misspelt",
        "sabotage: [{name: a, breaks: [containment], §pach: 'a:b', drop: x}]\n",
        "mean patch",
    ),
    bad(
        "an owner, misspelt", "quarantine: {§ownr: a, reason: b, until: 2031-12-31}\n", "mean owner"
    ),
    bad(
        "a parameter, misspelt",
        "faults: [{fault: model.status, with: {§statsu: 500}}]\n",
        "mean status",
    ),
    Bad("a subject, misspelt", "case: x\n§subjct: codex\n", ("did you mean subject",)),
]

PLACE = [
    bad("a size without unit", "sandbox: {limits: {memory: §2GB}}\n", "no size"),
    bad(
        "a size that is a number",
        "sandbox: {limits: {memory: §1024}}\n",
        "expected a size.*such as 1024MiB$",
    ),
    bad(
        "a disk above memory",
        "sandbox: {limits: {memory: 1GiB, disk: §2GiB}}\n",
        "disk is above memory",
    ),
    bad("a memory of nothing", "sandbox: {limits: {memory: §0MiB}}\n", "at least 8MiB"),
    bad("a clock without zone", "sandbox: {clock: {at: §2031-02-03T04:05:06}}\n", "no zone"),
    bad(
        "a clock that is no time",
        "sandbox: {clock: {at: §2031-02-30T04:05:06Z}}\n",
        "point in time",
    ),
    bad("an unknown zone", "sandbox: {clock: {zone: §Asia/Katmandoo}}\n", "did you mean Asia/K"),
    bad("a zone that is a path", "sandbox: {clock: {zone: §../../etc/passwd}}\n", "time zone"),
    bad("an absolute planted path", "home: {§/etc/passwd: x}\n", "no relative path"),
    bad("a planted path that leaves", "home: {§a/../../b: x}\n", "no relative path"),
    bad("a planted path in the tilde", "home: {§~/a: x}\n", "no relative path"),
    bad("a path planted twice", "home: {a/b: x, §a//b: y}\n", "planted twice"),
    bad(
        "a planted path that leaves in disguise",
        r'home: {§"\\x2e\\x2e/a": x}' + "\n",
        "no relative path",
    ),
    bad("a planted path with a NUL", r'home: {§"a\\x00": x}' + "\n", "has a NUL"),
    bad("a key with a NUL", r'home: {§"a\0": x}' + "\n", "a key has a NUL"),
    bad("a link to a NUL", r'home: {a: {link: §"\0"}}' + "\n", "has a NUL"),
    bad("a variable with a NUL", r'env: {A: §"\0"}' + "\n", "has a NUL"),
    bad("a task with a NUL", r'task: §"a\0"' + "\n", "has a NUL"),
    bad("a planted path that is too long", f"home: {{§{'a' * 256}: x}}\n", "too long"),
    bad("a file in a file", "home: {a: x, §a/b: y}\n", "no folder"),
    bad("base64 that is none", "home: {a: {base64: §'???'}}\n", "no base64"),
    bad("a mount that is not there", "workspace: {mount: {§./absent: /opt/x}}\n", "is not there"),
    bad("a mount of the host's sockets", "workspace: {mount: {§/run: /opt/x}}\n", "running host"),
    bad("a mount of a device", "workspace: {mount: {§/dev/null: /opt/x}}\n", "running host"),
    bad("a mount onto the root", "workspace: {mount: {./agent: §/}}\n", "no place for a mount"),
    bad("a mount onto a relative path", "workspace: {mount: {./agent: §opt}}\n", "no place"),
    bad("a mount onto the kernel's", "workspace: {mount: {./agent: §/proc/x}}\n", "kernel"),
    bad("a mount of the whole host", "workspace: {mount: {§/: /opt/x}}\n", "your home"),
    bad("a variable of the harness", "env: {§HOME: x}\n", "set by the harness"),
    bad("a variable that is no name", "env: {§A-B: x}\n", "no variable name"),
    bad("a secret of the harness", "secrets: [§SHAKEOUT_TASK]\n", "set by the harness"),
    bad("a secret that is in env", "env: {A: x}\nsecrets: [§A]\n", "in env too"),
    bad("a secret that is no name", "secrets: [§a b]\n", "no variable name"),
]

SUBJECTS = [
    Bad("no subject", "§case: x\n", ("lacks subject",)),
    Bad("both", "case: x\nsubject: codex\n§subjects: [agentd]\n", ("beside subject",)),
    Bad("a program", "case: x\nsubject: §./agent\n", (r"write \{command: \[\./agent\]\}",)),
    Bad("an unknown subject", "case: x\nsubject: §cdex\n", ("did you mean codex",)),
    Bad(
        "an unknown one with parameters", "case: x\nsubject: {§cdex: {}}\n", ("did you mean codex",)
    ),
    Bad("an unknown one of several", "case: x\nsubjects: [codex, §x]\n", ("unknown subject 'x'",)),
    Bad("one subject twice", "case: x\nsubjects: [codex, §{codex: {}}]\n", ("here twice",)),
    Bad("an unknown parameter", "case: x\nsubject: {codex: {§a: 1}}\n", ("unknown key 'a'",)),
    Bad("a command without argv", "case: x\nsubject: §command\n", ("write command: ",)),
    Bad("a command line as text", "case: x\nsubject: {command: §ls -l}\n", ("expected a list",)),
    Bad("an empty command", "case: x\nsubject: {command: §[]}\n", ("at least 1 entry",)),
    Bad("an empty program", "case: x\nsubject: {command: [§'']}\n", ("program is empty",)),
    Bad(
        "an unknown placeholder",
        "case: x\nsubject: {command: [a, §'{tsk}']}\n",
        ("unknown placeholder {tsk}.*{{tsk}}",),
    ),
    Bad(
        "two subjects in a map", "case: x\nsubject: §{codex: {}, agentd: {}}\n", ("at most 1 key",)
    ),
]

SCRIPT = [
    bad("a turn of an unknown kind", "script: [{§sya: hi}, {say: x}]\n", "unknown key 'sya'"),
    bad("an empty turn", "script: [§{}]\n", "at least 1 key"),
    bad("a turn that only repeats", "script: [§{repeat: 2}]\n", "says and calls nothing"),
    bad("a turn that is text", "script: [§hello]\n", "expected a map, came the text 'hello'"),
    bad("two abstract calls", "script: [{run: ls, §read: {path: a}}]\n", "beside run"),
    bad("a raw turn that speaks", "script: [{say: a, §raw: b}]\n", "beside say"),
    bad("a call without arguments", "script: [{call: {t: §}}]\n", "expected a map, came nothing"),
    bad("a write without text", "script: [{write: §{path: a}}]\n", "write lacks text"),
    bad("a repeat of nothing", "script: [{say: a, repeat: §0}]\n", "at least 1"),
    bad("a repeat without end, misspelt", "script: [{say: a, repeat: §allways}]\n", "always"),
    bad("a condition that is no pattern", "script: [{say: a, if: §'['}]\n", "regular expression"),
    bad("a negative usage", "script: [{say: a, usage: {input: §-1, output: 1}}]\n", "at least 0"),
]

SERVICES = [
    bad("an unknown kind of service", "services: {§htp: {}}\n", "kind of service.*mean http"),
    bad("a service that is always there", "services: {§dns: {}}\n", "unknown kind of service"),
    bad("a service called model", "services: {http: {§model: []}}\n", "cannot"),
    bad(
        "a service called localhost",
        "services: {http: {§localhost: []}}\n",
        "cannot name a service",
    ),
    bad("a service with a bad name", "services: {http: {§Up_Stream: []}}\n", "cannot stand here"),
    bad("a rule without reply", "services: {http: {up: [§{on: GET /}]}}\n", "lacks reply"),
    bad("a rule without method", "services: {http: {up: [{on: §/a, reply: {}}]}}\n", "GET /report"),
    bad(
        "a status that is none",
        "services: {http: {up: [{on: GET /, reply: {status: §42}}]}}\n",
        "at least",
    ),
]

FAULTS = [
    bad(
        "a trigger under another key",
        "faults: [{fault: model.truncate, §at: {request: 2}}]\n",
        "unknown key 'at'; did you mean when\\?$",
    ),
    bad(
        "a parameter beside its fault",
        "faults: [{fault: model.truncate, §after_events: 2}]\n",
        "goes under with: {after_events: 2}$",
    ),
    bad("an unknown fault", "faults: [{fault: §model.trunkate}]\n", "did you mean model.truncate"),
    bad("no fault's name", "faults: [§{id: a}]\n", "lacks fault"),
    bad(
        "an unknown parameter",
        "faults: [{fault: model.truncate, with: {§after: 1}}]\n",
        "unknown key",
    ),
    bad(
        "a wrong parameter",
        "faults: [{fault: model.truncate, with: {after_events: §x}}]\n",
        "whole",
    ),
    bad("a missing parameter", "faults: [§{fault: model.status}]\n", "with lacks status"),
    bad(
        "a bad duration",
        "services: {http: {up: []}}\n"
        "faults: [{fault: upstream.slow, with: {service: up, delay: §2 s}}]\n",
        "is no duration",
    ),
    bad(
        "an unknown service of a fault",
        "services: {http: {up: []}}\n"
        "faults: [{fault: upstream.slow, with: {service: §upp, delay: 2s}}]\n",
        "unknown service 'upp'; did you mean up",
    ),
    bad("an unknown trigger", "faults: [{fault: process.kill, when: §strat}]\n", "mean start"),
    bad(
        "a trigger of two kinds",
        "faults: [{fault: process.kill, when: {after: 1s, §request: 1}}]\n",
        "beside",
    ),
    bad(
        "a person where there is nobody",
        "services: {http: {up: []}, telegram: {tg: {}}}\n"
        "faults: [{fault: human.no-answer, with: {service: §up}}]\n",
        "unknown service 'up'; did you mean tg|one of tg|tg",
    ),
    bad(
        "times of a fault of a person",
        "services: {telegram: {tg: {}}}\n"
        "faults: [{fault: human.no-answer, with: {service: tg}, §times: 2}]\n",
        "times goes only with faults of model and upstream",
    ),
    bad(
        "a person who does nothing",
        "services: {telegram: {tg: {human: [§{on: deploy}]}}}\n",
        "has none of say, press",
    ),
    bad(
        "a person who does two things at once",
        "services: {telegram: {tg: {human: [{on: deploy, say: x, §press: y}]}}}\n",
        "press stands beside say",
    ),
    bad(
        "a person who presses a button that nobody showed her",
        "services: {telegram: {tg: {human: [{press: §x}]}}}\n",
        "unasked",
    ),
    bad(
        "a bad pattern of a person",
        "services: {telegram: {tg: {human: [{on: §'(', say: x}]}}}\n",
        "is no regular expression",
    ),
    bad(
        "a name that is taken in another kind",
        "services: {http: {up: []}, slack: {§up: {}}}\n",
        "there is a service 'up' already",
    ),
    bad(
        "a sink where there is nobody",
        "services: {http: {up: []}, telegram: {tg: {}}}\n"
        "expect: [{escalations: {count: 0, sinks: [tg, file:x, §up]}}]\n",
        "unknown service 'up'",
    ),
    bad(
        "escalations without any sink",
        "expect: [{§escalations: {count: 0}}]\n",
        "the case has no chat service",
    ),
    bad(
        "a request of number 0",
        "faults: [{fault: process.kill, when: {request: §0}}]\n",
        "at least 1",
    ),
    bad(
        "a service without request",
        "faults: [{fault: process.kill, when: {after: 1s, §service: model}}]\n",
        "only with request",
    ),
    bad(
        "an unknown service of a trigger",
        "faults: [{fault: process.kill, when: {request: 1, service: §up}}]\n",
        "unknown service",
    ),
    bad(
        "a trigger's bad pattern",
        "faults: [{fault: process.kill, when: {output: §'a('}}]\n",
        "regular expression",
    ),
    bad(
        "a trigger's path that leaves",
        "faults: [{fault: process.kill, when: {file: §../x}}]\n",
        "no path inside",
    ),
    bad(
        "a trigger's path that is absolute",
        "faults: [{fault: process.kill, when: {file: §/etc/x}}]\n",
        "no path inside",
    ),
    bad("a bad heal", "faults: [{fault: process.kill, until: {after: §soon}}]\n", "no duration"),
    bad("times where nothing is counted", "faults: [{fault: process.kill, §times: 2}]\n", "until"),
    bad("times of nothing", "faults: [{fault: model.truncate, times: §0}]\n", "at least 1"),
    bad(
        "an id twice",
        "faults: [{id: a, fault: process.kill}, {id: §a, fault: process.kill}]\n",
        "second time",
    ),
    bad(
        "each of an unknown parameter",
        "faults: [{fault: model.truncate, each: {§events: [1]}}]\n",
        "mean after_events",
    ),
    bad(
        "each beside with",
        "faults: [{fault: model.status, with: {status: 1}, each: {§status: [2]}}]\n",
        "in with too",
    ),
    bad(
        "a wrong value in each",
        "faults: [{fault: model.status, each: {status: [1, §x]}}]\n",
        "whole number",
    ),
    bad(
        "nothing in each",
        "faults: [{fault: model.status, each: {status: §[]}}]\n",
        "at least 1 entry",
    ),
]

EXPECTATIONS = [
    bad(
        "expectations under another key, told once",
        "§expects: [{home: untouched}]\n"
        "sabotage: [{name: s, breaks: [home], change: {path: a, content: b}}]\n",
        "did you mean expect\\?$",
    ),
    bad(
        "a sabotage of a case that expects nothing",
        "sabotage: [{name: s, breaks: [§home], change: {path: a, content: b}}]\n",
        "write what must hold under expect$",
    ),
    bad(
        "a word of another tool",
        "expect: [{output: {stream: stdout, §contains: x}}]\n",
        "did you mean matches\\?$",
    ),
    bad(
        "an unknown oracle",
        "expect: [{§hoem: untouched}]\n",
        "unknown oracle 'hoem'; did you mean home",
    ),
    bad("an unknown word of an oracle", "expect: [{home: §untuched}]\n", "mean untouched"),
    bad("two oracles", "expect: [{home: untouched, §secrets: absent}]\n", "entry of its own"),
    bad("no oracle", "expect: [§{id: a}]\n", "names no oracle"),
    bad("an empty expectation", "expect: [§{}]\n", "at least 1 key"),
    bad("an oracle as text", "expect: [§home]\n", "expected a map"),
    bad(
        "an id twice",
        "expect: [{id: a, home: untouched}, {id: §a, home: untouched}]\n",
        "second time",
    ),
    bad(
        "the harness's own id",
        "expect: [{id: §containment, home: untouched}]\n",
        "belongs to the harness",
    ),
    bad(
        "a pattern that the oracle refuses",
        "expect: [{output: {stream: out, matches: §'('}}]\n",
        "'\\(' is no regular expression",
    ),
    bad(
        "a path the oracle refuses",
        "expect: [{file: {equals: x, path: §../a}}]\n",
        "names no path inside",
    ),
    bad("a bad glob", "expect: [{home: {untouched: true, allow: [a, §/b]}}]\n", "is no glob"),
    bad(
        "an unknown service",
        "expect: [{requests: {service: §upstrm, exactly: 1}}]\n",
        "unknown service",
    ),
    bad(
        "an unknown oracle in the control",
        "control: {expect: [{§fiel: {path: a}}]}\n",
        "did you mean file",
    ),
    bad("an unknown key in the control", "control: {§faults: []}\n", "unknown key"),
    bad(
        "an unknown oracle in the stimulus",
        "stimulus: [{§request: {exactly: 1}}]\n",
        "mean requests",
    ),
]

STEPS = [
    bad("an unknown step", "steps: [§strat]\n", "unknown step 'strat'; did you mean start"),
    bad("no steps", "steps: §[]\n", "at least 1 entry"),
    bad("steps that never start", "§steps: [{run: [ls]}]\n", "never start"),
    bad("a wait before the start", "steps: [§{wait: exit}, start]\n", "before start"),
    bad("a second start", "steps: [start, §start]\n", "restart"),
    bad("two things in a step", "steps: [start, {wait: exit, §run: [ls]}]\n", "beside"),
    bad("a then without limit", "steps: [start, {wait: exit, §then: kill}]\n", "only with at_most"),
    bad(
        "an unknown then",
        "steps: [start, {wait: exit, at_most: 1s, then: §die}]\n",
        "then cannot be 'die'",
    ),
    bad("an unknown signal", "steps: [start, {kill: §SIGFOO}]\n", "is no signal"),
    bad("a run as somebody", "steps: [start, {run: [ls], as: §me}]\n", "as cannot be 'me'"),
    bad("a run with a bad placeholder", "steps: [start, {run: [ls, §'{hom}']}]\n", "placeholder"),
    bad("a run as a command line", "steps: [start, {run: §ls -l}]\n", "expected a list"),
]

REST = [
    bad(
        "a sabotage of nothing",
        "expect: [{home: untouched}]\nsabotage: [{name: a, breaks: §[], patch: 'a:b', drop: x}]\n",
        "at least 1",
    ),
    bad(
        "a sabotage of an unknown id",
        "expect: [{home: untouched}]\nsabotage: [{name: a, breaks: [§hme], patch: 'a:b', drop: x}]\n",
        "did you mean home",
    ),
    bad(
        "a sabotage of no kind",
        "expect: [{home: untouched}]\nsabotage: [§{name: a, breaks: [home]}]\n",
        "none of .*exactly one",
    ),
    bad(
        "a sabotage of two kinds",
        "expect: [{home: untouched}]\nsabotage: [{name: a, breaks: [home], patch: 'a:b', drop: x, §change: {path: a, content: b}}]\n",
        "beside patch",
    ),
    bad(
        "a patch that does nothing",
        "expect: [{home: untouched}]\nsabotage: [{name: a, breaks: [home], §patch: 'a:b'}]\n",
        "0 of drop",
    ),
    bad(
        "a patch of no place",
        "expect: [{home: untouched}]\nsabotage: [{name: a, breaks: [home], patch: §a.b, drop: x}]\n",
        "runtime.recovery.guard:TABLE",
    ),
    bad(
        "a patch with no file",
        "expect: [{home: untouched}]\nsabotage: [{name: a, breaks: [home], patch: 'a:b', with: §'x.py:f'}]\n",
        "there is no file",
    ),
    bad(
        "a drop without patch",
        "expect: [{home: untouched}]\nsabotage: [{name: a, breaks: [home], change: {path: a, content: b}, §drop: x}]\n",
        "only with patch",
    ),
    bad(
        "a sabotage twice",
        "expect: [{home: untouched}]\nsabotage:\n- {name: a, breaks: [home], patch: 'a:b', drop: x}\n- {name: §a, breaks: [home], patch: 'a:b', drop: y}\n",
        "already",
    ),
    bad(
        "a known defect of nobody",
        "expect: [{home: untouched}]\nknown: [{subject: §cdex, version: '>=1', breaks: [home], because: b, since: s}]\n",
        "mean codex",
    ),
    bad(
        "a known defect in no range",
        "expect: [{home: untouched}]\nknown: [{subject: codex, version: §newest, breaks: [home], because: b, since: s}]\n",
        "range of versions",
    ),
    bad(
        "a known defect of no id",
        "expect: [{home: untouched}]\nknown: [{subject: codex, version: '>=1', breaks: [§hme], because: b, since: s}]\n",
        "did you mean home",
    ),
    bad(
        "a known way out of the sandbox",
        "expect: [{home: untouched}]\nknown: [{subject: codex, version: '>=1', breaks: [§containment], because: b, since: s}]\n",
        "no expectation has the id",
    ),
    bad(
        "a mount over the keys of the home",
        "workspace: {mount: {.: §/home/agent/.ssh}}\n",
        "would hide what shows damage",
    ),
    bad("a mount over the system", "workspace: {mount: {.: §/usr}}\n", "no place for a mount"),
    bad(
        "a file planted behind the link out of the home",
        "home: {§shared/x: y}\n",
        "lies in 'shared', which is no folder",
    ),
    bad("a disk of a page", "sandbox: {limits: {disk: §4KiB}}\n", "at least 1MiB"),
    bad(
        "a known defect without reason",
        "known: [§{subject: codex, version: '>=1', breaks: [home], since: s}]\n",
        "lacks because",
    ),
    bad(
        "a quarantine without end",
        "quarantine: §{owner: me, reason: flaky}\n",
        "lacks until; write until: 2031-12-31",
    ),
    bad(
        "a quarantine until no day",
        "quarantine: {owner: me, reason: flaky, until: §2031-02-30}\n",
        "is no date",
    ),
]

BAD = [
    *SYNTAX,
    *STRUCTURE,
    *KINDS,
    *MISSPELT,
    *PLACE,
    *SUBJECTS,
    *SCRIPT,
    *SERVICES,
    *FAULTS,
    *EXPECTATIONS,
    *STEPS,
    *REST,
]
