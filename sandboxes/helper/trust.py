"""The certificates that a sandbox's system trusts: what is there, and one authority of ours.

Programs look in one of two ways: curl, git and Go read the bundle, OpenSSL itself (and Python
with it) looks in the folder for a file that is called after the name of the authority.
"""

from __future__ import annotations

from typing import Any

FOLDERS = ("etc/ssl", "etc/ssl/certs")
BUNDLE = f"{FOLDERS[-1]}/ca-certificates.crt"
_ALONE = f"{FOLDERS[-1]}/shakeout.pem"


def files(spec: dict[str, Any], bundle: str) -> dict[str, str]:
    """The files to write, by path below the root folder; none where nothing is to be added.

    Args:
        spec: of the sandbox.
        bundle: what is in the system's bundle.
    """
    trusted = spec["trusted"]
    if not trusted:
        return {}
    gap = "" if bundle.endswith("\n") or not bundle else "\n"
    return {
        BUNDLE: bundle + gap + trusted["pem"],
        _ALONE: trusted["pem"],
        f"{FOLDERS[-1]}/{trusted['name_hash']}.0": trusted["pem"],
    }
