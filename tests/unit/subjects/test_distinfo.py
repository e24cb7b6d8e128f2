"""Code that is shown without being installed leaves on record what an installation does."""

from __future__ import annotations

import base64
import hashlib
from importlib import metadata
from pathlib import Path, PurePosixPath

from harness.case.model import Case, SubjectRef, Where
from harness.subjects.distinfo import dist_info
from harness.subjects.registry import SUBJECTS


def test_python_reads_it_as_an_editable_installation(tmp_path: Path):
    (tmp_path / "here/deep").mkdir(parents=True)
    (tmp_path / "here/deep/one.py").write_text("ONE = 1\n")
    (tmp_path / "here/data.txt").touch()

    shown = {"/opt/it/part": tmp_path / "here"}
    for planted in dist_info("it", "1.2", "/opt/it", shown, PurePosixPath("site")):
        path = tmp_path / planted.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(planted.content)

    (found,) = metadata.distributions(name="it", path=[str(tmp_path / "site")])
    assert (found.version, found.metadata["Name"]) == ("1.2", "it")
    assert (
        found.read_text("direct_url.json")
        == '{"url": "file:///opt/it", "dir_info": {"editable": true}}'
    )
    (file,) = found.files or []
    assert str(found.locate_file(file)) == "/opt/it/part/deep/one.py"
    made = base64.urlsafe_b64encode(hashlib.sha256(b"ONE = 1\n").digest()).rstrip(b"=").decode()
    assert (file.size, file.hash and (file.hash.mode, file.hash.value)) == (8, ("sha256", made))


def test_shakeout_has_every_module_of_its_own_on_record():
    case = Case("x", Path("x.yaml"), Where("x.yaml", 1, 1), {})

    launch = SUBJECTS["shakeout"].launch(SubjectRef("shakeout"), case)

    record = next(one.content.decode() for one in launch.home if one.path.endswith("/RECORD"))
    listed = {line.partition(",")[0] for line in record.splitlines()}
    top = Path(__file__).parents[3]
    packages = ("harness", "sandboxes", "verifiers")
    modules = {path for name in packages for path in (top / name).rglob("*.py")}
    assert listed == {f"/opt/shakeout/{path.relative_to(top)}" for path in modules}
