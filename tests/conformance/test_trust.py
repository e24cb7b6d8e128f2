"""An authority that the harness names is trusted by the system inside, beside those it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandboxes.trusted import CERTIFICATE, Authority

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
PEM = "-----BEGIN CERTIFICATE-----\nb3Vycw==\n-----END CERTIFICATE-----\n"
OURS = Authority(PEM, "0a1b2c3d")
HASHED = f"/etc/ssl/certs/{OURS.name_hash}.0"


@pytest.fixture
def trusting(make):
    return make(trusted=OURS)


def test_it_is_in_the_bundle_behind_what_was_there(trusting, room):
    before = room.ok(f"cat {BUNDLE} 2>/dev/null; true")

    assert trusting.ok(f"cat {BUNDLE}") == f"{before}\n{PEM}".strip()


@pytest.mark.parametrize("path", [CERTIFICATE, HASHED])
def test_it_is_found_alone_and_by_its_name(trusting, room, path):
    assert trusting.ok(f"cat {path}") == PEM.strip()
    assert room.shell(f"test -e {path}").code == 1


def test_what_else_is_trusted_is_still_there(trusting, room):
    listing = "ls /etc/ssl/certs 2>/dev/null; true"
    new = set(trusting.ok(listing).split()) - set(room.ok(listing).split())

    assert new <= {Path(path).name for path in (CERTIFICATE, HASHED, BUNDLE)}
    assert {Path(CERTIFICATE).name, Path(HASHED).name} <= new


def test_the_agent_can_read_and_not_change_it(trusting):
    for path in (CERTIFICATE, HASHED, BUNDLE):
        assert trusting.shell(f"echo x >> {path}").code != 0
        assert trusting.shell(f"rm -f {path}").code != 0
    assert trusting.ok(f"cat {CERTIFICATE}") == PEM.strip()


@pytest.mark.needs("files.system")
def test_it_is_no_change_of_the_system(trusting):
    trusting.ok("cat /etc/ssl/certs/* > /dev/null 2>&1; true")

    assert trusting.sandbox.listing().system == []


def test_the_host_trusts_it_not(trusting):
    trusting.ok("true")

    assert not Path(HASHED).exists()
    assert not Path(CERTIFICATE).exists()
    assert not Path(BUNDLE).exists() or PEM not in Path(BUNDLE).read_text()
