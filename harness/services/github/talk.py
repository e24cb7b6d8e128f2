"""Issues, labels, comments, pull requests, reviews and merges."""

from __future__ import annotations

from typing import Any

from harness.services.git.repository import HEADS
from harness.services.github.routes import Call, Refused, Said, invalid, missing, route
from harness.services.github.state import Issue


def _listed(call: Call, *, pulls: bool) -> list[Issue]:
    state = call.query.get("state", "open")
    found = [
        issue
        for issue in call.forge.issues.values()
        if (issue.is_pull or not pulls) and state in ("all", "closed" if issue.closed else "open")
    ]
    return list(reversed(found))


@route("GET", "/issues")
def _issues(call: Call) -> Said:
    wanted = {name for name in call.query.get("labels", "").split(",") if name}
    found = [issue for issue in _listed(call, pulls=False) if wanted <= {*issue.labels}]
    return Said(200, [call.shapes.issue(issue) for issue in found], listed=True)


@route("POST", "/issues")
def _new_issue(call: Call) -> Said:
    issue = call.forge.open(call.text("Issue", "title"), _body(call), call.by)
    issue.labels = _labels(call)
    return Said(201, call.shapes.issue(issue))


@route("GET", "/issues/{number}")
def _issue(call: Call) -> Said:
    return Said(200, call.shapes.issue(call.issue()))


@route("PATCH", "/issues/{number}")
def _edit_issue(call: Call) -> Said:
    issue = call.issue()
    _edit(call, issue)
    return Said(200, call.shapes.issue(issue))


def _body(call: Call) -> str:
    return str(call.body.get("body") or "")


def _edit(call: Call, issue: Issue) -> None:
    state = call.body.get("state")
    if state not in (None, "open", "closed"):
        raise invalid("Issue", "state", "invalid")
    if "title" in call.body:
        issue.title = call.text("Issue", "title")
    if "body" in call.body:
        issue.body = _body(call)
    if "labels" in call.body:
        issue.labels = _labels(call)
    issue.closed = issue.closed if state is None else state == "closed"


# -- labels


def _labels(call: Call) -> list[str]:
    items = call.body.get("labels") or []
    if not isinstance(items, list):
        raise invalid("Issue", "labels", "invalid")
    written = [item.get("name") if isinstance(item, dict) else item for item in items]
    names = [name for name in written if isinstance(name, str) and name]
    if names != written:
        raise invalid("Label", "name", "invalid")
    for name in names:
        call.forge.labels.setdefault(name, "ededed")
    return list(dict.fromkeys(names))


@route("GET", "/labels")
def _all_labels(call: Call) -> Said:
    return Said(200, [call.shapes.label(name) for name in call.forge.labels], listed=True)


@route("POST", "/labels")
def _new_label(call: Call) -> Said:
    name = call.text("Label", "name")
    if name in call.forge.labels:
        raise invalid("Label", "name", "already_exists")
    call.forge.labels[name] = str(call.body.get("color", "ededed"))
    return Said(201, call.shapes.label(name))


@route("GET", "/issues/{number}/labels")
def _issue_labels(call: Call) -> Said:
    return Said(200, [call.shapes.label(name) for name in call.issue().labels], listed=True)


@route("POST", "/issues/{number}/labels")
def _add_labels(call: Call) -> Said:
    issue = call.issue()
    issue.labels = list(dict.fromkeys([*issue.labels, *_labels(call)]))
    return _issue_labels(call)


@route("DELETE", "/issues/{number}/labels/{label}")
def _drop_label(call: Call) -> Said:
    issue, name = call.issue(), call.at["label"]
    if name not in issue.labels:
        raise Refused(404, "Label does not exist")
    issue.labels.remove(name)
    return _issue_labels(call)


# -- comments


@route("GET", "/issues/{number}/comments")
def _comments(call: Call) -> Said:
    issue = call.issue()
    said = [call.shapes.comment(issue.number, item) for item in issue.comments]
    return Said(200, said, listed=True)


@route("POST", "/issues/{number}/comments")
def _comment(call: Call) -> Said:
    issue = call.issue()
    item = call.forge.remark(call.text("IssueComment", "body"), call.by)
    issue.comments.append(item)
    return Said(201, call.shapes.comment(issue.number, item))


def _named_comment(call: Call) -> tuple[Issue, dict[str, Any]]:
    for issue in call.forge.issues.values():
        for item in issue.comments:
            if item["id"] == int(call.at["number"]):
                return issue, item
    raise missing()


@route("GET", "/issues/comments/{number}")
def _one_comment(call: Call) -> Said:
    issue, item = _named_comment(call)
    return Said(200, call.shapes.comment(issue.number, item))


@route("PATCH", "/issues/comments/{number}")
def _edit_comment(call: Call) -> Said:
    _, item = _named_comment(call)
    item["body"] = call.text("IssueComment", "body")
    return _one_comment(call)


@route("DELETE", "/issues/comments/{number}")
def _drop_comment(call: Call) -> Said:
    issue, item = _named_comment(call)
    issue.comments.remove(item)
    return Said(204, None)


# -- pull requests


@route("GET", "/pulls")
def _pulls(call: Call) -> Said:
    head, base = call.query.get("head", ""), call.query.get("base", "")
    found = [
        pull
        for pull in _listed(call, pulls=True)
        if head.rpartition(":")[2] in ("", pull.head) and base in ("", pull.base)
    ]
    return Said(200, [call.shapes.pull(pull) for pull in found], listed=True)


@route("POST", "/pulls")
def _new_pull(call: Call) -> Said:
    title = call.text("PullRequest", "title")
    head = call.text("PullRequest", "head").rpartition(":")[2]
    base = call.text("PullRequest", "base")
    for field, branch in (("head", head), ("base", base)):
        if HEADS + branch not in call.forge.git.refs:
            raise invalid("PullRequest", field, "invalid")
    refs = call.forge.git.refs
    if not call.forge.commits(refs[HEADS + head], refs[HEADS + base]):
        said = f"No commits between {base} and {head}"
        raise invalid("PullRequest", "base", "custom", said)
    for pull in call.forge.issues.values():
        if (pull.head, pull.base, pull.closed) == (head, base, False):
            owner = call.shapes.name.partition("/")[0]
            said = f"A pull request already exists for {owner}:{head}."
            raise invalid("PullRequest", "head", "custom", said)
    pull = call.forge.open(title, _body(call), call.by)
    pull.head, pull.base = head, base
    return Said(201, call.shapes.pull(pull))


@route("GET", "/pulls/{number}")
def _pull(call: Call) -> Said:
    return Said(200, call.shapes.pull(call.issue(pull=True)))


@route("PATCH", "/pulls/{number}")
def _edit_pull(call: Call) -> Said:
    pull = call.issue(pull=True)
    _edit(call, pull)
    pull.base = str(call.body.get("base") or pull.base)
    return Said(200, call.shapes.pull(pull))


@route("GET", "/pulls/{number}/files")
def _files(call: Call) -> Said:
    return Said(200, call.shapes.files(call.issue(pull=True)), listed=True)


@route("GET", "/pulls/{number}/commits")
def _pull_commits(call: Call) -> Said:
    head, base = call.forge.ends(call.issue(pull=True))
    names = call.forge.commits(head, base) if head and base else []
    return Said(200, [call.shapes.commit(name) for name in names], listed=True)


@route("GET", "/pulls/{number}/merge")
def _is_merged(call: Call) -> Said:
    if not call.issue(pull=True).merged:
        raise missing()
    return Said(204, None)


@route("PUT", "/pulls/{number}/merge")
def _merge(call: Call) -> Said:
    pull = call.issue(pull=True)
    method = call.body.get("merge_method") or "merge"
    if method not in ("merge", "squash", "rebase"):
        raise invalid("PullRequest", "merge_method", "invalid")
    head, _ = call.forge.ends(pull)
    if pull.closed or not call.forge.mergeable(pull):
        raise Refused(405, "Pull Request is not mergeable")
    if call.body.get("sha") not in (None, head):
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    if pull.base in call.forge.git.rules.protect and not _is_approved(call, pull):
        raise Refused(
            405, "At least 1 approving review is required by reviewers with write access."
        )
    usual = f"Merge pull request #{pull.number} from {pull.head}"
    title = usual if method == "merge" else f"{pull.title} (#{pull.number})"
    message = str(call.body.get("commit_title") or title)
    if call.body.get("commit_message"):
        message += f"\n\n{call.body['commit_message']}"
    new = call.forge.merge(pull, message, call.by, squash=method != "merge")
    return Said(200, {"sha": new, "merged": True, "message": "Pull Request successfully merged"})


def _is_approved(call: Call, pull: Issue) -> bool:
    if "failure" in call.forge.checks.values():
        return False
    return any(review["state"] == "APPROVED" for review in pull.reviews)


@route("GET", "/pulls/{number}/reviews")
def _reviews(call: Call) -> Said:
    pull = call.issue(pull=True)
    return Said(200, [call.shapes.review(item) for item in pull.reviews], listed=True)


@route("POST", "/pulls/{number}/reviews")
def _review(call: Call) -> Said:
    pull = call.issue(pull=True)
    states = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
    event = call.body.get("event", "COMMENT")
    if not isinstance(event, str) or event not in states:
        raise invalid("PullRequestReview", "event", "invalid")
    if event != "COMMENT" and pull.by == call.by:
        verb = "approve" if event == "APPROVE" else "request changes on"
        errors = [f"Can not {verb} your own pull request"]
        raise Refused(422, "Unprocessable Entity", errors=errors)
    item = call.forge.remark(_body(call), call.by, state=states[event])
    pull.reviews.append(item)
    return Said(200, call.shapes.review(item))


@route("GET", "/pulls/{number}/comments")
def _notes(call: Call) -> Said:
    pull = call.issue(pull=True)
    said = [call.shapes.comment(pull.number, item, "pulls") for item in pull.notes]
    return Said(200, said, listed=True)


@route("POST", "/pulls/{number}/comments")
def _note(call: Call) -> Said:
    pull = call.issue(pull=True)
    more = {key: call.body.get(key) for key in ("path", "line", "commit_id", "side")}
    item = call.forge.remark(call.text("PullRequestReviewComment", "body"), call.by, **more)
    pull.notes.append(item)
    return Said(201, call.shapes.comment(pull.number, item, "pulls"))
