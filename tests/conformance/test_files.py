"""Files are planted, listed and changed from outside, and no link of the subject is followed."""

from __future__ import annotations

import hashlib
import os
import stat

import pytest

from sandboxes import clock
from sandboxes.base import AGENT_UID, Kind, Mount, Planted, Root, SandboxSpec
from sandboxes.errors import SandboxError
from tests.conformance.room import Room


def read(room, root: Root, path: str) -> bytes | None:
    fd = room.sandbox.open(root, path)
    if fd is None:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read()


def test_what_is_planted_is_there_for_the_agent_and_is_its_own(make):
    room = make(
        home=[
            Planted(".config/app.toml", content=b"x = 1\n"),
            Planted("run", content=b"#!/bin/sh\n", mode=0o755),
            Planted("empty", Kind.DIR, mode=0o700),
            Planted("link", Kind.LINK, target="/nowhere"),
        ],
        workspace=[Planted("deep/er/file", content=b"\0\xff", mode=0o600)],
    )
    listing = room.sandbox.listing()

    assert room.ok("cat ~/.config/app.toml; readlink ~/link; stat -c %a ~/run ~/empty") == (
        "x = 1\n/nowhere\n755\n700"
    )
    assert room.shell("cat deep/er/file").out == b"\0\xff"
    assert room.ok("stat -c %U ~/.config ~/.config/app.toml deep deep/er/file | sort -u") == "agent"
    assert set(listing.home) == {".", ".config", ".config/app.toml", "run", "empty", "link"}
    assert listing.home["link"].target == "/nowhere"
    assert listing.workspace["deep/er/file"].mode == 0o600
    assert listing.system == []


def test_a_listing_holds_kind_mode_size_and_hash_of_everything(room):
    room.ok("echo hello > a; mkfifo p; ln -s a l; mkdir d; chmod 711 d; chmod 640 a")

    tree = room.sandbox.listing().workspace

    assert set(tree) == {".", "a", "p", "l", "d"}
    assert tree["a"].sha256 == hashlib.sha256(b"hello\n").hexdigest()
    assert (tree["a"].kind, tree["a"].mode, tree["a"].size) == (Kind.FILE, 0o640, 6)
    assert (tree["p"].kind, tree["p"].sha256) == (Kind.OTHER, None)
    assert (tree["l"].kind, tree["l"].target) == (Kind.LINK, "a")
    assert (tree["d"].kind, tree["d"].mode) == (Kind.DIR, 0o711)


def test_a_change_that_puts_size_and_time_back_is_still_seen(make):
    room = make(workspace=[Planted("f", content=b"aaaa")])
    before = room.sandbox.listing().workspace["f"]

    room.ok("touch -r f ref; printf bbbb > f; touch -r ref f; rm ref")
    after = room.sandbox.listing().workspace["f"]

    assert (before.size, before.mtime_ns) == (after.size, after.mtime_ns)
    assert before.sha256 != after.sha256


def test_names_that_are_no_utf8_survive(room):
    room.ok(
        r"""printf x > "$(printf 'caf\351')"; mkdir "$(printf '\377')"; printf y > "$(printf '\377/\376')" """
    )
    room.sandbox.plant(Root.WORKSPACE, Planted(os.fsdecode(b"planted\xe9"), content=b"z"))

    tree = room.sandbox.listing().workspace

    assert {os.fsencode(path) for path in tree} == {
        b".", b"caf\xe9", b"\xff", b"\xff/\xfe", b"planted\xe9",
    }  # fmt: skip
    assert read(room, Root.WORKSPACE, os.fsdecode(b"\xff/\xfe")) == b"y"
    assert room.ok(r'cat "$(printf "planted\351")"') == "z"


def test_names_that_look_special_are_just_names(room):
    names = ["~", "$HOME", "-rf", "a b", "new\nline", "*", "..."]
    for name in names:
        room.sandbox.plant(Root.WORKSPACE, Planted(f"{name}/f", content=name.encode()))

    assert set(room.sandbox.listing().workspace) == {".", *names, *(f"{n}/f" for n in names)}
    assert room.ok("cat './~/f'; ls -A ~") == "~"


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "a/../../b", "a/..", "nul\0"])
def test_a_path_that_leads_out_of_its_root_is_refused(room, path):
    with pytest.raises(SandboxError):
        room.sandbox.plant(Root.WORKSPACE, Planted(path, content=b"x"))
    with pytest.raises(SandboxError):
        room.sandbox.open(Root.WORKSPACE, path)


LINKS = "ln -s /etc up; ln -s /etc/passwd file; ln -s . self; ln -s $(pwd)/../tmp abs; ln -s / root; mkdir d; ln -s ../../etc d/etc"


def test_links_of_the_subject_are_listed_and_never_followed(room):
    room.ok(LINKS)

    tree = room.sandbox.listing().workspace

    assert set(tree) == {".", "up", "file", "self", "abs", "root", "d", "d/etc"}
    assert {tree[name].kind for name in ("up", "file", "self", "abs", "root", "d/etc")} == {
        Kind.LINK
    }


@pytest.mark.parametrize(
    "path", ["up/passwd", "file", "root/etc/passwd", "self/d/etc/passwd", "d/etc/passwd"]
)
def test_links_of_the_subject_are_never_read_through(room, path):
    room.ok(LINKS)

    assert room.sandbox.open(Root.WORKSPACE, path) is None


def test_links_of_the_subject_are_never_written_through(room):
    room.ok(LINKS + "; ln -s /tmp tmp; ln -s /tmp/victim victim")

    with pytest.raises(SandboxError):
        room.sandbox.plant(Root.WORKSPACE, Planted("tmp/planted", content=b"x"))
    with pytest.raises(SandboxError):
        room.sandbox.change(Root.WORKSPACE, "victim", 0o777, "agent")
    room.sandbox.plant(Root.WORKSPACE, Planted("victim", content=b"new"))

    assert room.ok("ls -A /tmp; cat victim; test ! -L victim") == "new"


def test_a_hard_link_is_replaced_and_not_written_through(make):
    room = make(workspace=[Planted("precious", content=b"keep")])
    room.ok("ln precious linked")

    room.sandbox.plant(Root.WORKSPACE, Planted("linked", content=b"new"))

    assert room.ok("cat precious linked") == "keepnew"


def test_only_regular_files_are_opened(room):
    room.ok("mkfifo pipe; mkdir d; ln -s /dev/zero zero")

    opened = [
        room.sandbox.open(Root.WORKSPACE, p) for p in ("pipe", "d", "zero", "absent", "d/x", ".")
    ]
    assert opened == [None] * 6


def test_a_file_is_read_as_it_is_even_if_its_owner_may_not(room):
    room.ok("echo hidden > f; chmod 0 f; mkdir d; echo in > d/f; chmod 0 d")

    assert read(room, Root.WORKSPACE, "f") == b"hidden\n"
    assert read(room, Root.WORKSPACE, "d/f") == b"in\n"
    assert room.sandbox.listing().workspace["d/f"].size == 3


def test_planting_replaces_a_file_whole(make):
    room = make(workspace=[Planted("f", content=b"old and long")])
    running = room.start(
        "sh", "-c", "exec 3<f; echo up; read x; cat <&3; cat f", stdin=(pipe := os.pipe())[0]
    )
    os.close(pipe[0])
    running.line()
    room.sandbox.plant(Root.WORKSPACE, Planted("f", content=b"new", mode=0o600))
    os.write(pipe[1], b"go\n")
    os.close(pipe[1])

    assert running.finish().text == "old and longnew"
    assert room.sandbox.listing().workspace["f"].mode == 0o600


def test_a_folder_cannot_be_replaced_by_a_file(room):
    room.ok("mkdir d; touch d/f")

    with pytest.raises(SandboxError):
        room.sandbox.plant(Root.WORKSPACE, Planted("d", content=b"x"))
    assert set(room.sandbox.listing().workspace) == {".", "d", "d/f"}


def test_mode_and_owner_can_be_changed_and_what_it_was_is_told(make):
    room = make(workspace=[Planted("f", content=b"x", mode=0o640)])

    before = room.sandbox.change(Root.WORKSPACE, "f", 0, "agent")
    assert (before.mode, before.size) == (0o640, 1)
    assert room.shell("cat f").code != 0
    room.sandbox.change(Root.WORKSPACE, "f", before.mode, "agent")
    assert room.ok("cat f") == "x"


@pytest.mark.needs("user.separate")
def test_a_path_can_be_given_to_root(make):
    room = make(workspace=[Planted("d/f", content=b"x")])

    room.sandbox.change(Root.WORKSPACE, "d", 0o755, "root")

    assert room.shell("touch d/new").code != 0
    assert room.ok("stat -c %U d") == "root"


@pytest.mark.needs("user.separate")
def test_what_was_changed_is_restored_wherever_it_is_by_now(make):
    room = make(workspace=[Planted("f", content=b"x", mode=0o640)])
    before = room.sandbox.listing().workspace["f"]

    room.sandbox.change(Root.WORKSPACE, "f", 0, "root")
    room.sandbox.change(Root.WORKSPACE, "f", 0o444, "root")
    room.ok("mv f g; echo mine > f; chmod 600 f")
    room.sandbox.restore(Root.WORKSPACE, "f")
    after = room.sandbox.listing().workspace

    assert (after["g"].mode, after["g"].uid) == (before.mode, before.uid)
    assert after["f"].mode == 0o600
    with pytest.raises(SandboxError, match="not changed"):
        room.sandbox.restore(Root.WORKSPACE, "f")


def test_a_path_can_be_taken_away_and_put_back(make):
    room = make(workspace=[Planted("d/f", content=b"x", mode=0o600)])
    before = room.sandbox.listing().workspace["d/f"]

    room.sandbox.take(Root.WORKSPACE, "d/f")
    assert room.ok("ls -AR") == ".:\nd\n\n./d:"
    assert room.ok("find / -xdev -name f -newer /etc/hostname 2>/dev/null || true") == ""
    room.sandbox.put_back(Root.WORKSPACE, "d/f")

    assert room.sandbox.listing().workspace["d/f"] == before
    with pytest.raises(SandboxError):
        room.sandbox.take(Root.WORKSPACE, "absent")
    with pytest.raises(SandboxError, match="root itself"):
        room.sandbox.take(Root.HOME, ".")
    with pytest.raises(SandboxError, match="not taken"):
        room.sandbox.put_back(Root.WORKSPACE, "d/f")


def test_what_the_subject_made_in_a_taken_place_stays(make):
    old = (
        Planted("d/old", content=b"1"),
        Planted("d/both", content=b"1"),
        Planted("f", content=b"1"),
    )
    room = make(workspace=[*old, Planted("d/e/deep", content=b"1"), Planted("p/q", content=b"1")])
    for path in ("d", "f", "p/q"):
        room.sandbox.take(Root.WORKSPACE, path)
    room.ok("mkdir -p d/e; echo 2 > d/both; echo 2 > d/e/new; ln -s /etc f; rmdir p")
    for path in ("d", "f", "p/q"):
        room.sandbox.put_back(Root.WORKSPACE, path)

    assert room.ok("cat d/old d/both d/e/deep d/e/new; readlink f; ls") == "12\n12\n/etc\nd\nf"


def test_taking_twice_keeps_both_apart(make):
    room = make(workspace=[Planted("f", content=b"1")], home=[Planted("f", content=b"2")])
    room.sandbox.take(Root.WORKSPACE, "f")
    room.sandbox.take(Root.HOME, "f")
    room.sandbox.put_back(Root.WORKSPACE, "f")
    room.sandbox.put_back(Root.HOME, "f")

    assert room.ok("cat f ~/f") == "12"


def test_a_link_exists_even_if_it_leads_nowhere(room):
    room.ok("ln -s /nowhere l")

    assert room.sandbox.exists(Root.WORKSPACE, "l")
    assert not room.sandbox.exists(Root.WORKSPACE, "l/x")


def test_a_tree_of_many_files_is_listed_in_reasonable_time(place, room):
    room.run(
        "python3",
        "-c",
        "import os\nfor d in range(100):\n os.mkdir(str(d))\n for f in range(200): open(f'{d}/{f}', 'w').close()",
    )
    before = clock.monotonic()

    tree = room.sandbox.listing().workspace

    assert len(tree) == 1 + 100 + 20000
    assert clock.monotonic() - before < (60 if place.kind == "docker/runsc" else 15)


def test_a_deep_tree_is_listed(room):
    made = room.run(
        "python3",
        "-c",
        "import os\nfor i in range(1500):\n os.mkdir('d'); os.chdir('d')\nopen('bottom', 'w').close()",
    )
    assert made.code == 0

    tree = room.sandbox.listing().workspace

    assert "/".join(["d"] * 1500 + ["bottom"]) in tree


def test_a_tree_deeper_than_can_be_named_is_an_error_and_not_left_out(room):
    room.run("python3", "-c", "import os\nfor i in range(3000):\n os.mkdir('d'); os.chdir('d')")

    with pytest.raises(SandboxError, match="deeper"):
        room.sandbox.listing()


def test_a_tree_that_changes_under_the_listing_does_not_break_it(room):
    room.start(
        "sh",
        "-c",
        "while :; do mkdir -p a/b/c; touch a/b/c/f a/g; rm -rf a; ln -s /etc a; rm a; done",
    )

    for _ in range(30):
        tree = room.sandbox.listing().workspace
        assert not any(path.endswith("passwd") for path in tree)


def test_mounts_are_shown_read_only(make, tmp_path):
    tool = tmp_path / "tool"
    tool.mkdir()
    (tool / "run").write_text("#!/bin/sh\necho mounted\n")
    (tool / "run").chmod(0o755)
    tmp_path.chmod(0o755)
    room = make(mounts=[Mount(tool, "/opt/subject"), Mount(tool / "run", "/home/agent/bin/tool")])

    assert room.ok("/opt/subject/run; ~/bin/tool") == "mounted\nmounted"
    assert room.shell("echo x > /opt/subject/new").code != 0
    assert room.shell("echo x >> ~/bin/tool").code != 0
    assert [p.name for p in tool.iterdir()] == ["run"]
    assert room.sandbox.listing().system == []


def test_scratch_folders_are_part_of_the_system_listing(room):
    room.ok("echo a > /tmp/a; mkdir /var/tmp/b; echo c > /dev/shm/c")

    changes = {change.path: change for change in room.sandbox.listing().system}

    assert set(changes) == {"/tmp/a", "/var/tmp/b", "/dev/shm/c"}
    assert all(change.before is None for change in changes.values())
    assert read(room, Root.SYSTEM, "/tmp/a") == b"a\n"
    assert stat.S_IMODE(changes["/tmp/a"].after.mode) == 0o644


@pytest.mark.needs("remount")
@pytest.mark.parametrize(
    ("path", "name"), [("/home/agent", "~"), ("/workspace", "."), ("/tmp", "/tmp")]
)
def test_a_folder_can_be_made_read_only_and_writable_again(room, path, name):
    room.ok(f"echo before > {name}/f")

    room.sandbox.remount(path, read_only=True)
    assert b"Read-only" in room.shell(f"echo x > {name}/g").err
    assert room.ok(f"cat {name}/f") == "before"
    room.sandbox.remount(path, read_only=False)

    room.ok(f"echo x > {name}/g")


@pytest.mark.needs("remount")
def test_a_path_that_is_no_mount_cannot_be_remounted(room):
    with pytest.raises(SandboxError, match="/etc"):
        room.sandbox.remount("/etc", read_only=True)


@pytest.mark.parametrize("target", ["/proc/x", "relative", "/opt/../etc/x", "/dev/x"])
def test_a_mount_in_a_place_that_is_not_for_it_is_refused(make, tmp_path, target):
    with pytest.raises(SandboxError, match="mounted on"):
        make(mounts=[Mount(tmp_path, target)])


def test_a_mount_that_is_not_there_is_refused(make, tmp_path):
    with pytest.raises(SandboxError, match="absent"):
        make(mounts=[Mount(tmp_path / "absent", "/opt/x")])


def test_the_files_of_a_sandbox_do_not_depend_on_the_umask_of_the_harness(backend):
    before = os.umask(0o077)
    try:
        with backend.site(f"umask-{os.getpid()}") as site:
            room = Room(site.create(SandboxSpec("one", workspace=[Planted("d/f", content=b"x")])))
            assert room.ok("cat /etc/passwd >/dev/null; ls / ~ >/dev/null; umask") == "0022"
            assert room.sandbox.listing().workspace["d"].mode == 0o755
            assert room.leave() == []
    finally:
        os.umask(before)


def test_what_belongs_to_the_agent_is_listed_as_the_agents_whatever_the_kernel_calls_it(room):
    room.sandbox.plant(Root.HOME, Planted("planted", content=b"x"))

    room.ok("touch made")

    listing = room.sandbox.listing()
    found = {listing.home["planted"].uid, listing.workspace["made"].uid, listing.home["."].uid}
    assert found == {AGENT_UID}
