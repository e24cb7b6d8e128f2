"""``shakeout new``: write a first case that runs, to be changed into one's own.

It brings its own small agent, so that it needs nothing but a sandbox: the model's first
answer is a 503, and the agent must ask again and write down what it is told.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Final

from harness.case.errors import quoted
from harness.case.fields import CASE_ID
from harness.commands.answers import DONE, refused
from harness.errors import UsageError

_MAX_NAME: Final = 64

TEMPLATE: Final = """\
# A case: what is tested, what goes wrong, what must hold. `shakeout explain` documents all of it.
case: {name}
title: A 503 of the model is retried, and the answer is written down
tags: [first]

# What is tested: any program, started without a shell. {{model}} is the scripted model's address.
subject: {{command: [python3, agent.py, "{{task}}", "{{model}}"]}}
task: Ask the model, and write its answer to answer.txt

workspace:
  files:
    agent.py: |
      import json
      import sys
      import urllib.error
      import urllib.request

      from settings import ATTEMPTS

      task, model = sys.argv[1:]
      question = {{"model": "scripted", "messages": [{{"role": "user", "content": task}}]}}
      request = urllib.request.Request(
          model + "/v1/chat/completions",
          json.dumps(question).encode(),
          {{"Content-Type": "application/json"}},
      )
      for attempt in range(ATTEMPTS):
          try:
              with urllib.request.urlopen(request, timeout=10) as reply:
                  answer = json.load(reply)["choices"][0]["message"]["content"]
              break
          except urllib.error.HTTPError as error:
              print("attempt", attempt + 1, "got", error.code)
      else:
          sys.exit("the model did not answer")
      with open("answer.txt", "w") as file:
          file.write(answer + "\\n")
    settings.py: |
      ATTEMPTS = 2

# What the model says, turn by turn.
script:
  - {{say: "42"}}

# What goes wrong: the first request gets a 503.
faults:
  - {{fault: model.status, with: {{status: 503}}, times: 1}}

# What must hold, by what is seen from outside.
expect:
  - {{file: {{path: answer.txt, equals: "42\\n"}}}}
  - {{requests: {{exactly: 2}}}}
  - {{home: untouched}}
  - {{processes: none-left}}
  - {{exit: 0}}

# The clean control, `shakeout run --control`: the same without its faults, which must pass too.
control:
  expect:
    - {{file: {{path: answer.txt, equals: "42\\n"}}}}
    - {{requests: {{exactly: 1}}}}
    - {{home: untouched}}
    - {{processes: none-left}}
    - {{exit: 0}}

# Its teeth, `shakeout teeth`: without the second attempt it must fail, and in exactly these.
sabotage:
  - name: no-second-attempt
    breaks: [file, requests, exit]
    patch: "settings:ATTEMPTS"
    value: 1
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("name", metavar="NAME", help="the case's id: a-z, 0-9 and -")
    parser.add_argument(
        "--dir", type=Path, default=Path(), metavar="DIR", help="where to write NAME.yaml"
    )


def run(args: argparse.Namespace) -> int:
    """Write the case; 0 written, 2 a bad name, or there is such a file already."""
    try:
        path = write(args.name, args.dir)
    except UsageError as error:
        return refused(error, as_json=False)
    sys.stdout.write(f"{path}: written; try it with: shakeout run {path}\n")
    sys.stdout.write(f"and see that it can fail: shakeout teeth {path}\n")
    return DONE


def write(name: str, folder: Path) -> Path:
    """Write a first case of that name; gives its path.

    Raises:
        UsageError: the name is no case id, or the file cannot be made anew.
    """
    if re.fullmatch(CASE_ID.strip("^$"), name) is None or len(name) > _MAX_NAME:
        raise UsageError(f"{quoted(name)} is no case id; write a-z, 0-9 and -, such as my-first")
    path = folder / f"{name}.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE.format(name=name))
    except FileExistsError as error:
        raise UsageError(f"there is a {path} already; take another name") from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; name another --dir"
        ) from error
    return path
