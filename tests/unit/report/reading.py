"""Reads a page of HTML as strictly as a test wants it: each element, attribute and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "input", "br", "link", "img"}


@dataclass
class Element:
    """An element: its attributes, and all text in it."""

    tag: str
    attributes: dict[str, str]
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def words(self) -> str:
        """The texts in it, a space between any two."""
        return " ".join(" ".join(self.parts).split())


@dataclass
class Page(HTMLParser):
    """A page that was read."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of {tag} comes twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"nothing is open that </{tag}> could close"
        assert self.open[-1].tag == tag, f"</{tag}> closes {self.open[-1]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.parts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def all(self, tag: str, **attributes: str) -> list[Element]:
        return [
            element
            for element in self.elements
            if element.tag == tag
            and all(element.attributes.get(k.rstrip("_")) == v for k, v in attributes.items())
        ]

    def with_class(self, name: str) -> list[Element]:
        return [e for e in self.elements if name in e.attributes.get("class", "").split()]


def read(page: Path | str) -> Page:
    """Read a page, every element of which has to be closed in order."""
    parsed = Page()
    parsed.feed(page.read_text("utf-8") if isinstance(page, Path) else page)
    parsed.close()
    assert [e.tag for e in parsed.open] == [], "not closed"
    return parsed
