"""Control groups are found in every layout, and only a dead owner's are swept."""

from __future__ import annotations

import os

import pytest

from sandboxes.helper import hierarchies, owners
from sandboxes.helper.groups import Group
from sandboxes.helper.hierarchies import Hierarchy

HYBRID_MOUNTS = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
HYBRID_OWN = """\
9:name=systemd:/user.slice
8:pids:/
7:cpu,cpuacct:/
4:memory:/jobs/one
0::/user.slice
"""
PURE_MOUNTS = (
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
)
PURE_OWN = "0::/user.slice/user-0.slice/session-1.scope\n"
CONTAINER_MOUNTS = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
CONTAINER_OWN = "4:memory:/docker/abc/inner\n"


def test_the_hybrid_layout_has_a_tree_for_each_controller_and_one_without():
    found = {
        h.path.rpartition("/")[2]: h for h in hierarchies.hierarchies(HYBRID_MOUNTS, HYBRID_OWN)
    }

    assert found["memory"] == Hierarchy(
        "/sys/fs/cgroup/memory", unified=False, controllers=frozenset({"memory"}), own="jobs/one"
    )
    assert found["pids"].own == ""
    assert found["unified"] == Hierarchy(
        "/sys/fs/cgroup/unified", unified=True, controllers=frozenset(), own="user.slice"
    )
    assert found["cpu,cpuacct"].controllers == {"cpu", "cpuacct"}


def test_the_pure_second_version_has_one_tree():
    assert hierarchies.hierarchies(PURE_MOUNTS, PURE_OWN) == [
        Hierarchy(
            "/sys/fs/cgroup",
            unified=True,
            controllers=frozenset(),
            own="user.slice/user-0.slice/session-1.scope",
        )
    ]


def test_in_a_container_the_own_group_is_relative_to_what_is_mounted():
    (found,) = hierarchies.hierarchies(CONTAINER_MOUNTS, CONTAINER_OWN)

    assert found.own == "inner"


def test_a_group_of_a_live_owner_is_not_dead():
    assert owners.dead_run(owners.name("r", os.getpid())) is None


@pytest.mark.parametrize("run", ["r", "2026-11-30.1", "with.dots.1.2"])
def test_a_group_whose_owner_started_at_another_time_is_dead_and_tells_its_run(run):
    pid, ticks = os.getpid(), owners.start_ticks(os.getpid())
    name = owners.name(run, pid)

    assert owners.dead_run(name.replace(f".{ticks}.", f".{ticks - 1}.")) == run


def test_a_group_of_another_pid_namespace_is_nobodys_business():
    name = owners.name("r", os.getpid())
    elsewhere = name.rpartition(".")[0].replace(f".{os.getpid()}.", ".1.") + ".1"

    assert owners.dead_run(elsewhere) is None


@pytest.mark.parametrize(
    "name", ["user.slice", "shakeout-", "shakeout-mine", "x-shakeout-r.1.1.1", ""]
)
def test_a_group_with_another_name_is_never_taken_for_ours(name):
    assert owners.dead_run(name) is None


def folder(path, files: dict[str, str]) -> int:
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    return os.open(path, os.O_RDONLY)


@pytest.fixture
def second(tmp_path):
    """A group as version 2 lays it out, in ordinary files."""
    events = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n"
    fd = folder(
        tmp_path / "g",
        {
            "memory.max": "max\n",
            "memory.swap.max": "max\n",
            "memory.events": events,
            "memory.peak": "4096\n",
            "pids.max": "max\n",
            "pids.events": "max 5\n",
            "cgroup.procs": "",
            "cgroup.events": "populated 1\nfrozen 1\n",
            "cgroup.freeze": "0\n",
        },
    )
    yield Group(dict.fromkeys(("memory", "pids", "freezer"), fd), [fd], True, True), tmp_path / "g"
    os.close(fd)


def test_the_second_version_limits_memory_and_swap(second):
    group, path = second
    group.limit_memory(1 << 20)
    group.limit_pids(7)

    assert (path / "memory.max").read_text().startswith("1048576")
    assert (path / "memory.swap.max").read_text().startswith("0")
    assert (path / "pids.max").read_text().startswith("7")


def test_the_second_version_counts_kills_and_not_mere_shortages(second):
    group, _ = second

    assert group.counters() == {"oom_kills": 2, "memory_peak": 4096, "pids_refused": 5}


def test_the_second_version_is_frozen_when_the_kernel_says_so(second):
    group, path = second

    assert group.freeze(on=True, timeout=0.1)
    assert (path / "cgroup.freeze").read_text().startswith("1")
    assert not group.freeze(on=False, timeout=0.01), "the events still say frozen"


def test_what_no_group_counts_is_unknown_and_not_nothing(tmp_path):
    fd = folder(tmp_path / "g", {})
    group = Group({"freezer": fd}, [fd], False, False)

    assert group.counters() == {"oom_kills": None, "memory_peak": None, "pids_refused": None}
    group.close()
