"""What an installation leaves on record, made for code that is shown without being installed."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from sandboxes.base import Planted


def dist_info(
    project: str, version: str, root: str, shown: Mapping[str, Path], site: PurePosixPath
) -> list[Planted]:
    """The ``.dist-info`` folder of an editable installation, with a hash of every module.

    Args:
        project: name of the distribution.
        version: of it.
        root: the folder inside that holds the packages.
        shown: path inside to path here, of each package.
        site: the folder that it is installed in, relative to the home.
    """
    folder = site / f"{project}-{version}.dist-info"
    source = {"url": f"file://{root}", "dir_info": {"editable": True}}
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n",
        "direct_url.json": json.dumps(source),
        "RECORD": "".join(_record(shown)),
    }
    return [Planted(str(folder / name), content=text.encode()) for name, text in files.items()]


def _record(shown: Mapping[str, Path]) -> Iterator[str]:
    for target, source in sorted(shown.items()):
        for file in sorted(source.rglob("*.py")):
            data = file.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            yield f"{target}/{file.relative_to(source)},sha256={digest},{len(data)}\n"
