"""The page of agentd speaks of the settings that there are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel

from runtime.settings import Settings
from tests.house.checkout import ROOT


def names(model: type[BaseModel], before: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from names(type(default), f"{before}{name}.")
        else:
            yield f"{before}{name}"


def test_each_setting_has_its_row_and_no_other_does():
    page = (ROOT / "docs" / "agentd.md").read_text()
    table = page.partition("| Setting |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == list(names(Settings))
