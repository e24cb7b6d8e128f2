"""``filesystem.io-error``: reading and writing a path fails as if the device had failed."""

from __future__ import annotations

import errno
from collections.abc import Mapping

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ANSWERS
from harness.faults.paths import inside
from harness.faults.ruled import Ruled, counted
from harness.faults.schemas import params, path_inside, some_of, text
from sandboxes.rules import Fail, Verb

_ERRORS = {name: getattr(errno, name) for name in ("EIO", "ENOSPC", "EROFS", "EDQUOT")}
_DATA = (Verb.READ, Verb.WRITE, Verb.FSYNC, Verb.TRUNCATE, Verb.MAP)


class IoError:
    """Calls are answered from outside with the error; nothing of them is done."""

    name = "filesystem.io-error"
    summary = (
        "Calls on a file, or on everything below a folder, fail with an error; "
        "it lands with each call that failed so. Files that are open already are reached too, "
        "by the name that they have then; what is mapped into memory already is not, and "
        "asynchronous calls (io_uring) do not exist in such a case."
    )
    layer = Layer.FILESYSTEM
    needs = (ANSWERS,)
    live = False
    schema = params(
        ("path",),
        path=path_inside(
            "a file, or a folder with all below it, relative to the workspace, or ~/…"
        ),
        on=some_of(
            "the calls that fail; by default those on the data of an open file", tuple(Verb), _DATA
        ),
        error=text("what they fail with", enum=sorted(_ERRORS), default="EIO"),
    )

    def inject(self, params: Params, place: Place) -> Ruled:
        """Have them fail from now on."""
        path, error = inside(params["path"]), params["error"]

        def prove(met: Mapping[str, int], _: Place) -> Landing:
            what = f"calls of the subject on {path} that failed with {error}: {counted(met)}"
            return Landing(sum(met.values()), what)

        verbs = frozenset(Verb(name) for name in params["on"])
        return Ruled.begin(place, Fail(path, verbs, _ERRORS[error]), prove)
