"""What is loaded from anywhere but the source that was asked for is found, however it is laid out."""

from __future__ import annotations

import base64
import compileall
import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
FILES = {
    "harness": ["__init__.py", "identity.py", "code.py", "state.py"],
    "sandboxes": ["__init__.py"],
    "verifiers": ["__init__.py", "verdicts.py"],
}
BASE = Path(sys.base_prefix, "bin", "python3")
INFO = "shakeout-0.1.0.dist-info"
ASK = "import sandboxes\nimport verifiers.verdicts\nfrom harness.code import code_digest\ncode_digest()\n"
TOLD = "from harness.identity import wrong_code\nprint(wrong_code())\n"


class Ground:
    """A folder with nothing of ours in it but what a test lays there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lay(self, name: str, *packages: str) -> Path:
        """A copy of our packages, or of some: as much of them as is needed to ask."""
        for package in packages or FILES:
            for file in FILES[package]:
                place = self.folder / name / package / file
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(TOP / package / file, place)
        return self.folder / name

    def install(self, root: Path) -> Path:
        """Put on record what lies in a folder, as a wheel does."""
        info = root / INFO
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shakeout\nVersion: 0.1.0\n")
        (info / "RECORD").write_text(
            "".join(
                f"{path.relative_to(root)},sha256={_hash(path)},{path.stat().st_size}\n"
                for path in sorted(root.rglob("*.py"))
            )
        )
        return root

    def told(self, *path: Path, between: str = "") -> str:
        """What is found wrong by a fresh interpreter with that path."""
        done = subprocess.run(
            [BASE, "-c", ASK + between + TOLD],
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": ":".join(map(str, path)),
                "PYTHONSAFEPATH": "1",
                "PYTHONNOUSERSITE": "1",
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def _hash(path: Path) -> str:
    made = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
    return made.rstrip(b"=").decode()


def _more(path: Path) -> Path:
    path.write_text(f"{path.read_text()}\nOTHER = True\n")
    return path


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


@pytest.mark.parametrize("installed", [True, False])
def test_one_folder_is_what_was_asked_for(ground: Ground, installed: bool):
    root = ground.lay("ours")

    assert ground.told(ground.install(root) if installed else root) == ""


def test_a_file_that_does_not_hash_to_the_record_is_named(ground: Ground):
    root = ground.install(ground.lay("ours"))
    changed = _more(root / "verifiers" / "verdicts.py")

    assert (
        ground.told(root) == f"{changed} was changed since shakeout was installed; install it again"
    )


def test_a_module_that_is_on_no_record_is_named(ground: Ground):
    root = ground.install(ground.lay("ours"))
    (root / "harness" / "extra.py").touch()

    told = ground.told(root, between="import harness.extra\n")

    assert told.startswith("harness.extra was loaded from")
    assert told.endswith("which is no file of the installed shakeout")


def test_where_nothing_is_installed_no_part_comes_out_of_another_folder(ground: Ground):
    root, other = ground.lay("ours", "sandboxes", "verifiers"), ground.lay("other", "harness")

    told = ground.told(other, root)

    assert f"was loaded from {root}/" in told
    assert f"shakeout is in {other};" in told


def test_two_checkouts_of_which_none_is_installed_are_refused(ground: Ground):
    root, other = ground.lay("ours"), ground.lay("other")

    told = ground.told(root, other)

    assert told.startswith(f"shakeout is in {other} and in {root}, and neither is installed;")


def test_two_installations_on_one_path_are_refused(ground: Ground):
    roots = [ground.install(ground.lay(name)) for name in ("one", "two")]

    told = ground.told(*roots)

    assert told == f"shakeout is installed in {roots[1]} and in {roots[0]}; leave one on the path"


def test_an_installed_package_that_is_a_link_elsewhere_is_refused(ground: Ground):
    root, other = ground.lay("ours", "harness", "sandboxes"), ground.lay("other", "verifiers")
    (root / "verifiers").symlink_to(other / "verifiers")

    assert ground.told(root).startswith(f"verifiers was loaded from {root}/verifiers/__init__.py")


# -- other forms of a module


def _without_source(root: Path) -> None:
    source = _more(root / "verifiers" / "verdicts.py")
    py_compile.compile(str(source), str(source.with_suffix(".pyc")), doraise=True)
    source.unlink()


def _in_a_zip(root: Path) -> None:
    with zipfile.ZipFile(root / "other.zip", "w") as made:
        for path in sorted((root / "verifiers").rglob("*.py")):
            made.write(path, str(path.relative_to(root)))


def _of_two_folders(root: Path) -> None:
    (root / "verifiers" / "__init__.py").unlink()
    (root / "other.zip").mkdir()  # is on the path, as the zip is
    (root / "other.zip" / "verifiers").mkdir()


def _unchecked(root: Path) -> None:
    source = root / "verifiers" / "verdicts.py"
    original = source.read_text()
    _more(source)
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_file(source, quiet=1, invalidation_mode=unchecked)
    source.write_text(original)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_without_source, "verifiers.verdicts was loaded from {root}/verifiers/verdicts.pyc"),
        (_in_a_zip, "verifiers was loaded from {root}/other.zip/verifiers/__init__.py"),
        (_of_two_folders, "verifiers was loaded from {root}/other.zip/verifiers, {root}/verifiers"),
        (_unchecked, "verifiers.verdicts was loaded compiled, and not from its source"),
    ],
)
def test_what_is_not_the_source_of_its_name_is_refused(
    ground: Ground, change: Callable[[Path], None], told: str
):
    root = ground.lay("ours")
    change(root)

    assert ground.told(root / "other.zip", root).startswith(told.format(root=root))


def test_a_compiled_file_of_the_source_is_taken(ground: Ground):
    root = ground.lay("ours")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(root, quiet=1, invalidation_mode=unchecked)

    assert ground.told(root) == ""


# -- changed meanwhile


@pytest.mark.parametrize("how", ["write_text('OTHER = True')", "unlink()"])
def test_a_file_that_is_changed_after_it_was_loaded_is_found(ground: Ground, how: str):
    root = ground.lay("ours")
    file = root / "verifiers" / "verdicts.py"
    change = f"from pathlib import Path\nPath({str(file)!r}).{how}\n"

    told = ground.told(root, between=change)

    assert told == f"{file} was changed after this run had loaded it; run it again"


def test_a_file_that_was_written_anew_as_it_was_is_no_other(ground: Ground):
    root = ground.lay("ours")
    file = root / "verifiers" / "verdicts.py"
    anew = f"from pathlib import Path\nf = Path({str(file)!r})\nf.write_bytes(f.read_bytes())\n"

    assert ground.told(root, between=anew) == ""
