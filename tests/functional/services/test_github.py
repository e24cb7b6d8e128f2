"""The GitHub service, as PyGithub meets it."""

from __future__ import annotations

from typing import Any

import pytest
from github import Auth, Github, GithubException, RateLimitExceededException, UnknownObjectException

from harness.case.model import Fault
from harness.faults.registry import FAULTS
from harness.services.base import Answer, Incoming
from harness.services.git import repository
from harness.services.registry import SERVICES, build

REPO: dict[str, Any] = {
    "files": {"README.md": "hi\n", "src/a.py": "x = 1\n"},
    "commits": [
        {"branch": "fix", "message": "Fix it", "files": {"src/a.py": "x = 2\n", "b": "b\n"}},
        {"branch": "clash", "message": "Clash", "files": {"README.md": "mine\n"}},
        {"message": "On main", "files": {"README.md": "theirs\n"}},
    ],
    "issues": [{"title": f"Issue {n}", "labels": ["bug"] if n == 1 else []} for n in range(1, 8)],
    "pulls": [{"title": "Clashes", "head": "clash"}],
    "checks": {"tests": "success"},
}


@pytest.fixture
def hub(serve):
    """``hub()`` gives the client's view of the repository, the service, and its live part."""

    def up(prefix: str = "", **more: Any) -> tuple[Any, Any, Any]:
        parse = SERVICES["github"].parse
        assert parse is not None
        service = build(parse("github", {"repos": {"team/app": REPO}, "token": "t0ken", **more}))
        live, where = serve(service)
        api = Github(auth=Auth.Token("t0ken"), base_url=f"http://{where}:8080{prefix}", retry=None)
        return api, service, live

    return up


def issues_of(service: Any) -> Any:
    return {issue["number"]: issue for issue in service.kept()["team/app"]["issues"]}


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
def test_a_pull_request_is_made_talked_about_and_merged(hub, prefix):
    api, service, _ = hub(prefix)
    repo = api.get_repo("team/app")
    assert api.get_user().login == "agent"

    pull = repo.create_pull(title="Fix", body="Please", head="fix", base="main")
    pull.create_issue_comment("Looks fine.")
    pull.create_review(body="Hm.", event="COMMENT")
    assert [(f.filename, f.status) for f in pull.get_files()] == [
        ("b", "added"),
        ("src/a.py", "modified"),
    ]
    assert [c.commit.message for c in pull.get_commits()] == ["Fix it"]
    assert repo.get_pull(pull.number).mergeable
    done = pull.merge(commit_title="Merge the fix", sha=pull.head.sha)

    assert done.merged
    assert repo.get_pull(pull.number).is_merged()
    assert repo.get_contents("src/a.py").decoded_content == b"x = 2\n"
    assert repo.get_contents("README.md").decoded_content == b"theirs\n"
    kept = issues_of(service)[pull.number]
    assert (kept["state"], kept["comments"]) == ("merged", [["agent", "Looks fine."]])
    assert kept["reviews"] == [["agent", "COMMENTED", "Hm."]]


def test_a_list_comes_in_pages(hub):
    api, _, live = hub()
    api.per_page = 3

    found = [issue.number for issue in api.get_repo("team/app").get_issues()]

    assert found == [8, 7, 6, 5, 4, 3, 2, 1]
    assert sum("/issues?" in request.path for request in live.requests()) == 3


def test_issues_are_made_labelled_and_closed(hub):
    api, service, _ = hub()
    repo = api.get_repo("team/app")

    issue = repo.create_issue("New", body="text", labels=["bug"])
    issue.add_to_labels("urgent")
    comment = issue.create_comment("first")
    comment.edit("second")
    issue.edit(state="closed")

    assert [i.number for i in repo.get_issues(state="open", labels=["bug"])] == [1]
    assert issues_of(service)[9] == {
        "number": 9, "pull": False, "title": "New", "body": "text", "by": "agent",
        "state": "closed", "labels": ["bug", "urgent"], "head": "", "base": "",
        "comments": [["agent", "second"]], "reviews": [],
    }  # fmt: skip


def test_files_and_branches_are_written(hub):
    api, service, _ = hub()
    repo = api.get_repo("team/app")

    repo.create_git_ref("refs/heads/new", repo.get_branch("main").commit.sha)
    repo.create_file("docs/n.md", "Write", "n\n", branch="new")
    old = repo.get_contents("README.md", ref="new")
    repo.update_file("README.md", "Change", "new\n", old.sha, branch="new")
    with pytest.raises(GithubException) as stale:
        repo.update_file("README.md", "Again", "x\n", old.sha, branch="new")

    assert stale.value.status == 409
    assert [c.commit.message for c in repo.get_commits(sha="new")][:2] == ["Change", "Write"]
    assert [f.path for f in repo.get_contents("docs", ref="new")] == ["docs/n.md"]
    assert [b.name for b in repo.get_branches()] == ["clash", "fix", "main", "new"]
    log = service.kept()["team/app"]["log"]
    assert [entry["how"] for entry in log] == ["pushed"] * 3


def test_checks_are_told(hub):
    api, _, _ = hub()
    commit = api.get_repo("team/app").get_branch("fix").commit

    commit.create_status("failure", context="lint")

    assert [(run.name, run.conclusion) for run in commit.get_check_runs()] == [("tests", "success")]
    assert commit.get_combined_status().state == "failure"


@pytest.mark.parametrize(
    ("ask", "status", "words"),
    [
        (lambda api: api.get_repo("team/none"), 404, "Not Found"),
        (lambda api: api.get_repo("team/app").get_issue(99), 404, "Not Found"),
        (lambda api: api.get_repo("team/app").get_contents("none"), 404, "Not Found"),
        (lambda api: api.get_repo("team/app").get_branch("none"), 404, "Branch not found"),
        (lambda api: api.get_repo("team/app").get_pull(8).merge(), 405, "not mergeable"),
        (
            lambda api: api.get_repo("team/app").create_pull("main", "none", title="x"),
            422,
            "Validation Failed",
        ),
        (
            lambda api: api.get_repo("team/app").create_pull("main", "clash", title="x"),
            422,
            "already exists",
        ),
    ],
)
def test_what_cannot_be_done_is_said_as_github_says_it(hub, ask, status, words):
    api, _, _ = hub()

    with pytest.raises(GithubException) as refused:
        ask(api)

    assert refused.value.status == status
    assert words in str(refused.value.data)
    assert isinstance(refused.value, UnknownObjectException) is (status == 404)


def test_a_rate_limit_is_hit(hub):
    api, _, _ = hub(remaining=1)
    api.get_repo("team/app")

    with pytest.raises(RateLimitExceededException) as refused:
        api.get_repo("team/app")

    assert (refused.value.headers or {})["x-ratelimit-remaining"] == "0"
    assert api.get_rate_limit().rate.remaining == 0


def test_a_secondary_rate_limit_says_how_long_to_wait(hub):
    api, _, _ = hub(secondary={"at": 2, "retry_after": 7})
    api.get_repo("team/app")

    with pytest.raises(RateLimitExceededException) as refused:
        api.get_repo("team/app")

    assert (refused.value.headers or {})["retry-after"] == "7"
    assert api.get_repo("team/app").full_name == "team/app"


def test_a_wrong_token_is_refused(hub):
    api, _, _ = hub(token="another")

    with pytest.raises(GithubException) as refused:
        api.get_user().login  # noqa: B018 - asks for it

    assert (refused.value.status, refused.value.data["message"]) == (401, "Bad credentials")


def test_a_request_whose_reply_another_status_replaced_was_not_done(hub):
    api, service, live = hub()
    repo = api.get_repo("team/app")
    params = {"service": "github", "status": 502, "headers": {}, "body": ""}
    live.arm(Fault("down", "upstream.status", params=params), FAULTS["upstream.status"])

    with pytest.raises(GithubException):
        repo.create_issue("once")
    repo.create_issue("twice")

    assert [issues_of(service)[9]["title"], len(issues_of(service))] == ["twice", 9]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/issues", b'{"title": "x", "labels": [{}]}'),
        ("POST", "/issues/1/labels", b'[{"name": []}]'),
        ("POST", "/issues", b'{"title": "\\ud800"}'),
        ("POST", "/pulls/8/reviews", b'{"event": []}'),
        ("PUT", "/pulls/8/merge", b'{"merge_method": ["merge"]}'),
        ("PUT", f"/contents/{'a/' * 5000}a", b'{"message": "m", "content": ""}'),
        ("PUT", "/contents/a/../b", b'{"message": "m", "content": ""}'),
        ("PUT", "/contents/a", b'{"message": "\\udcff", "content": ""}'),
    ],
)
def test_a_request_that_means_nothing_is_refused(method, path, body):
    parse = SERVICES["github"].parse
    assert parse is not None
    service = build(parse("github", {"repos": {"team/app": REPO}}))
    incoming = Incoming(1, method, f"/repos/team/app{path}", {}, body)

    answer = service.answer(incoming, service.classify(incoming), ())

    assert isinstance(answer, Answer)
    assert answer.wire.status in {400, 422}


def test_a_status_has_a_context_that_is_text(hub):
    _, service, _ = hub()
    for method, path in (("POST", "statuses/fix"), ("GET", "commits/fix/status")):
        body = b'{"state": "success", "context": []}' if method == "POST" else b""
        headers = {"authorization": "Bearer t0ken"}
        incoming = Incoming(1, method, f"/repos/team/app/{path}", headers, body)
        assert service.answer(incoming, service.classify(incoming), ()).wire.status < 300, path


def test_files_are_written_as_long_as_there_is_room(hub, monkeypatch):
    api, _, _ = hub()
    repo = api.get_repo("team/app")
    monkeypatch.setattr(repository, "MOST_KEPT", 5000)

    repo.create_file("small", "Small", "x")
    with pytest.raises(GithubException, match="size limit"):
        repo.create_file("big", "Big", "x" * 5000)
