"""Repositories, branches, commits, contents and checks."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from harness.case.repo import FileDecl
from harness.services.git.repository import HEADS, NOTHING, Change
from harness.services.github.routes import Call, Refused, Said, invalid, missing, route

_DEEPEST = 100
_MALFORMED = {"", ".", "..", ".git"}
_USUAL = "{0} <{0}@users.noreply.github.example>"


@route("GET", "")
def _repo(call: Call) -> Said:
    return Said(200, call.shapes.repo())


@route("GET", "/branches")
def _branches(call: Call) -> Said:
    names = [ref.removeprefix(HEADS) for ref in call.forge.git.refs if ref.startswith(HEADS)]
    return Said(200, [call.shapes.branch(name) for name in sorted(names)], listed=True)


@route("GET", "/branches/{ref}")
def _branch(call: Call) -> Said:
    if HEADS + call.at["ref"] not in call.forge.git.refs:
        raise Refused(404, "Branch not found")
    return Said(200, call.shapes.branch(call.at["ref"]))


@route("GET", "/git/refs?/{ref}")
def _ref(call: Call) -> Said:
    name = f"refs/{call.at['ref']}"
    if name not in call.forge.git.refs:
        raise missing()
    return Said(200, call.shapes.ref(name))


@route("POST", "/git/refs")
def _new_ref(call: Call) -> Said:
    name, commit = call.text("Reference", "ref"), call.text("Reference", "sha")
    if name in call.forge.git.refs:
        raise Refused(422, "Reference already exists")
    if call.forge.commit(commit) != commit:
        raise Refused(422, "Object does not exist")
    _move(call, Change(NOTHING, commit, name))
    return Said(201, call.shapes.ref(name))


@route("PATCH", "/git/refs/{ref}")
def _move_ref(call: Call) -> Said:
    name, commit = f"refs/{call.at['ref']}", call.text("Reference", "sha")
    old = call.forge.git.refs.get(name)
    if old is None:
        raise Refused(422, "Reference does not exist")
    if call.forge.commit(commit) != commit:
        raise Refused(422, "Object does not exist")
    if not call.body.get("force") and call.forge.fork(commit, old) != old:
        raise Refused(422, "Update is not a fast forward")
    _move(call, Change(old, commit, name))
    return Said(200, call.shapes.ref(name))


@route("DELETE", "/git/refs/{ref}")
def _drop_ref(call: Call) -> Said:
    name = f"refs/{call.at['ref']}"
    old = call.forge.git.refs.get(name)
    if old is None:
        raise Refused(422, "Reference does not exist")
    _move(call, Change(old, NOTHING, name))
    return Said(204, None)


def _move(call: Call, change: Change) -> None:
    (why,) = call.forge.git.receive([change], b"", atomic=False)
    if why:
        raise Refused(422, f"Reference update failed: {why}")


@route("GET", "/commits")
def _commits(call: Call) -> Said:
    tip = call.commit(call.query.get("sha", call.forge.git.branch))
    names = reversed(call.forge.commits(tip, ""))
    return Said(200, [call.shapes.commit(name) for name in names], listed=True)


@route("GET", "/commits/{sha}")
def _commit(call: Call) -> Said:
    return Said(200, call.shapes.commit(call.commit(call.at["sha"])))


# -- contents


@route("GET", "/contents/?{path}")
def _content(call: Call) -> Said:
    ref = call.query.get("ref", call.forge.git.branch)
    commit = call.forge.commit(ref)
    if commit is None:
        raise Refused(404, f"No commit found for the ref {ref}")
    found = call.shapes.content(call.at["path"].strip("/"), commit)
    if found is None:
        raise missing()
    return Said(200, found)


@route("PUT", "/contents/{path}")
def _write(call: Call) -> Said:
    try:
        data = base64.b64decode(call.body.get("content", ""))
    except (binascii.Error, ValueError, TypeError) as error:
        raise Refused(422, "content is not valid Base64") from error
    is_new = _leaf(call) is None
    commit = _commit_file(call, FileDecl(data), needs_sha=not is_new)
    content = call.shapes.content(call.at["path"], commit)
    return Said(201 if is_new else 200, {"content": content, "commit": call.shapes.commit(commit)})


@route("DELETE", "/contents/{path}")
def _remove(call: Call) -> Said:
    if _leaf(call) is None:
        raise missing()
    commit = _commit_file(call, None, needs_sha=True)
    return Said(200, {"content": None, "commit": call.shapes.commit(commit)})


def _branch_of(call: Call) -> str:
    return str(call.body.get("branch") or call.query.get("branch") or call.forge.git.branch)


def _leaf(call: Call) -> Any:
    commit = call.forge.git.refs.get(HEADS + _branch_of(call))
    return call.forge.paths(commit).get(call.at["path"])


def _commit_file(call: Call, file: FileDecl | None, *, needs_sha: bool) -> str:
    branch, path = _branch_of(call), call.at["path"]
    parts = path.split("/")
    if len(parts) > _DEEPEST or _MALFORMED & {part.lower() for part in parts}:
        raise Refused(422, "path contains a malformed path component")
    if file is not None and not call.forge.git.has_room(len(file.data)):
        raise Refused(422, "the repository has reached its size limit")
    message = call.body.get("message") or call.query.get("message")
    if not message:
        raise invalid("Content", "message", "missing_field")
    old = call.forge.git.refs.get(HEADS + branch)
    if old is None and call.forge.git.refs:
        raise Refused(404, f"Branch {branch} not found")
    sha = call.body.get("sha") or call.query.get("sha")
    if needs_sha and not sha:
        raise Refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if needs_sha and sha != _leaf(call).id:
        raise Refused(409, f"{path} does not match {sha}")
    if branch in call.forge.git.rules.protect:
        raise Refused(409, "Repository rule violations found: the branch is protected")
    new = call.forge.git.change({path: file}, old, _USUAL.format(call.by), str(message))
    _move(call, Change(old or NOTHING, new, HEADS + branch))
    return new


# -- checks


@route("GET", "/commits/{sha}/check-runs")
def _check_runs(call: Call) -> Said:
    commit = call.commit(call.at["sha"])
    runs = [
        {
            "id": number,
            "name": name,
            "head_sha": commit,
            "status": "queued" if state == "pending" else "completed",
            "conclusion": None if state == "pending" else state,
        }
        for number, (name, state) in enumerate(call.forge.checks.items(), 1)
    ]
    return Said(200, {"total_count": len(runs), "check_runs": runs})


@route("GET", "/commits/{sha}/status")
def _status(call: Call) -> Said:
    commit = call.commit(call.at["sha"])
    statuses = _statuses_of(call, commit)
    states = {item["state"] for item in statuses}
    worst = next((s for s in ("failure", "error", "pending") if s in states), "success")
    state = worst if statuses else "pending"
    return Said(200, {"state": state, "sha": commit, "statuses": statuses,
                      "total_count": len(statuses)})  # fmt: skip


@route("GET", "/commits/{sha}/statuses")
def _statuses(call: Call) -> Said:
    return Said(200, _statuses_of(call, call.commit(call.at["sha"])), listed=True)


def _statuses_of(call: Call, commit: str) -> list[dict[str, Any]]:
    latest = {item["context"]: item for item in call.forge.statuses.get(commit, ())}
    return list(latest.values())


@route("POST", "/statuses/{sha}")
def _new_status(call: Call) -> Said:
    state = call.text("Status", "state")
    if state not in {"success", "failure", "error", "pending"}:
        raise invalid("Status", "state", "custom", "state is not included in the list")
    item = {
        "id": call.forge.next_id(),
        "state": state,
        "context": str(call.body.get("context") or "default"),
        "description": call.body.get("description"),
        "target_url": call.body.get("target_url"),
    }
    call.forge.statuses.setdefault(call.commit(call.at["sha"]), []).append(item)
    return Said(201, item)
