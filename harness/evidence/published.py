"""Whether a stored document has the form that is published for it in ``cases/schema/``."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from harness.errors import EvidenceLost
from harness.state import cases_folder

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def refuse_unlike(
    name: str, document: Any, schema: str = "evidence", told: str | None = None
) -> None:
    """Refuse a document in another form, whoever wrote it so.

    Args:
        name: of the document: of its definition in the schema, where that has several.
        document: as read.
        schema: the name of the schema's file, without its ending.
        told: how to call it; by default by its name.

    Raises:
        EvidenceLost: it is in another form; the message says where.
    """
    flaw = next(iter(_validator(schema, name).iter_errors(document)), None)
    if flaw is not None:
        message = flaw.message if len(flaw.message) <= _LONGEST else f"{flaw.message[:_LONGEST]}…"
        raise EvidenceLost(f"{told or name} is not in its form: {flaw.json_path}: {message}")


_LONGEST = 200


@functools.cache
def _validator(schema: str, name: str) -> Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - trials do without it

    path = cases_folder() / "schema" / f"{schema}.schema.json"
    whole = json.loads(path.read_text("utf-8"))
    if name in whole.get("$defs", {}):
        whole = {"$ref": f"#/$defs/{name}", "$defs": whole["$defs"]}
    return Draft202012Validator(whole)
