"""The tokens that are known by how they look, whatever stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from runtime.screen.spans import TOKEN, Found, Rank
from runtime.screen.views import View


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of token: what a text must hold for it to be worth a look, and its pattern.

    Every pattern is linear: it begins with fixed characters, or with a few of one class.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(kind: str, hints: str, pattern: str) -> Rule:
    return Rule(kind, tuple(hints.split()), re.compile(pattern, re.ASCII))


_GITLAB = "glpat gldt glrt glcbt glptt glft glagent glsoat glimt gloas glffct"

RULES = (
    _rule("aws-access-key", "AKIA ASIA", r"A[KS]IA[A-Z2-7]{16}"),
    _rule(
        "aws-secret-key",
        "AKIA ASIA",
        r"(?<=A[KS]IA[A-Z2-7]{16})[\"',:;|\s]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
    ),
    _rule(
        "aws-session-token",
        "IQoJb3JpZ2lu FwoGZXIv",
        r"(?:IQoJb3JpZ2lu|FwoGZXIv)[A-Za-z0-9/+=]{60,}",
    ),
    _rule(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_[A-Za-z0-9]{20,}(?:_?[A-Za-z0-9-]+\.[\w-]+\.[\w-]+)?",
    ),
    _rule("github-fine-grained-token", "github_pat_", r"github_pat_\w{20,}"),
    _rule(
        "gitlab-token",
        " ".join(f"{each}-" for each in _GITLAB.split()),
        rf"(?:{_GITLAB.replace(' ', '|')})-[\w.=-]{{20,}}",
    ),
    _rule("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,}"),
    _rule(
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-",
        r"sk-(?:proj|svcacct|admin|None|or)-[\w-]{20,}",
    ),
    _rule(
        "openai-key",
        "sk-",
        r"sk-(?=[A-Za-z0-9]{0,64}[0-9])(?=[A-Za-z0-9]{0,64}[A-Z])[A-Za-z0-9]{32,}|sk-[0-9a-f]{32,}",
    ),
    _rule("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _rule("google-oauth-token", "ya29. GOCSPX- 1//0", r"(?:ya29\.|GOCSPX-|1//0)[\w-]{20,}"),
    _rule(
        "slack-token",
        "xox xapp-",
        r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}",
    ),
    _rule(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{20,}",
    ),
    _rule("discord-webhook", "/api/webhooks/", r"/api/webhooks/[0-9]{15,22}/[\w-]{40,}"),
    _rule("telegram-token", ":AA", r"[0-9]{6,12}:AA[\w-]{32,}"),
    _rule(
        "stripe-key",
        "k_live_ k_test_ whsec_",
        r"[prs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}",
    ),
    _rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _rule("pypi-token", "pypi-", r"pypi-[\w-]{50,}"),
    _rule("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    _rule("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{30,}"),
    _rule("jwt", "eyJ", r"eyJ[\w-]{10,1024}+\.[\w-]{4,}+\.[\w-]{8,}(?:\.[\w-]+){0,2}"),
    _rule(
        "azure-storage-key",
        "AccountKey= SharedAccessKey=",
        r"(?<=Account)Key=[A-Za-z0-9+/]{40,}={0,2}|(?<=SharedAccess)Key=[A-Za-z0-9+/]{40,}={0,2}",
    ),
    _rule("azure-client-secret", "8Q~ 7Q~", r"[\w.-]{3}[78]Q~[\w.~-]{31,}"),
    _rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{40,}"),
    _rule("hugging-face-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _rule("docker-hub-token", "dckr_", r"dckr_[po]at_[\w-]{20,}"),
    _rule("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _rule("databricks-token", "dapi", r"dapi[0-9a-f]{32}"),
    _rule("grafana-token", "glsa_ glc_", r"gls?[ac]_[A-Za-z0-9+/=_]{32,}"),
    _rule("atlassian-token", "ATATT3 ATBB", r"ATATT3[\w=-]{50,}|ATBB[A-Za-z0-9]{32}"),
    _rule("vault-token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,}"),
    _rule("model-host-key", "gsk_ xai- pplx- r8_", r"(?:gsk_|xai-|pplx-|r8_)[A-Za-z0-9]{36,}"),
    _rule("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}"),
    _rule("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,}"),
    _rule("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    _rule("tailscale-key", "tskey-", r"tskey-[a-z]+-[\w-]{20,}"),
    _rule("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _rule("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
)
"""Each kind of token; one that several rules name is one kind in two spellings."""

_LONE_AWS_SECRET = re.compile(r"(?<![\w/+.-])[A-Za-z0-9/+]{40}(?![\w/+.=-])", re.ASCII)
_AWS_SECRET = Rank(TOKEN, "aws-secret-key")
_WORD = re.compile(r"[A-Z]?[a-z]{2,}(?=[ ,.;!?]|$)|\w+(?= ?[=:])")


def tokens(view: View, joined: bool) -> Iterator[Found]:
    """Every token in the view; ``joined``: words may touch what stood on the line before."""
    text = view.text
    words = "\n".join([text[start:end] for start, end in view.words])
    for rule in RULES:
        if any(hint in words for hint in rule.hints):
            what = Rank(TOKEN, rule.kind)
            for match in rule.pattern.finditer(text):
                end = _cut(view, match, rule) if joined else match.end()
                yield Found(match.start(), end, what)
    if not joined:
        yield from _lone_aws_secrets(view)


def _lone_aws_secrets(view: View) -> Iterator[Found]:
    for start, end in view.words:
        for match in _LONE_AWS_SECRET.finditer(view.text, start, end):
            if _is_random(match[0]):
                yield Found(match.start(), match.end(), _AWS_SECRET)


def _cut(view: View, match: re.Match[str], rule: Rule) -> int:
    """The token's end, without a plain word of the next line that touches it."""
    start, end = match.span()
    joint = view.joint(start, end)
    if joint is None:
        return end
    word = _WORD.match(view.text, joint)
    return joint if word and rule.pattern.fullmatch(view.text, start, joint) else end


def _is_random(run: str) -> bool:
    """Whether 40 characters were drawn rather than written: a path or a name is not."""
    capitals = sum(map(str.isupper, run))
    digits = sum(map(str.isdigit, run))
    small = sum(map(str.islower, run))
    return capitals >= 6 and small >= 6 and digits >= 2 and len(set(run)) >= 20
