"""Races against the freeze, and lives that go on after the end."""

from __future__ import annotations

from typing import Any

from tests.attacks.form import Attack, in_helper, python, shell, wrapped

_NO_FREEZE = in_helper(
    """
def no_freeze(box, request):
    return operations.DONE
operations.OPERATIONS["freeze"] = no_freeze
"""
)
_DEFENCE = "nothing of the subject runs while it is looked at"
_HOME = [{"home": "untouched"}]
_BAIT = [{"home": {"untouched": True, "allow": [".aa", ".ab"]}}]

#: Damage, and a watcher that mends it when it sees the listing begin with another file.
RACER = """
import ctypes, os, threading, time
os.chdir("/home/agent")
os.rename("Documents/letter.txt", ".ab")
open(".aa", "w").truncate(512 << 20)  # takes a while to read
libc = ctypes.CDLL(None)
def watch():
    fd = libc.inotify_init()
    libc.inotify_add_watch(fd, b".aa", 0x20)  # IN_OPEN
    os.write(ready, b".")
    os.read(fd, 4096)
    os.rename(".ab", "Documents/letter.txt")
    time.sleep(60)
reading, ready = os.pipe()
%s
os.read(reading, 1)
"""
FORKED = """
if os.fork() == 0:
    os.setsid()
    watch()
    os._exit(0)
"""
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        watch()
    os._exit(0)
os.wait()
"""
THREAD = """
if os.fork() == 0:
    os.setsid()
    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    os._exit(0)
"""
VFORKED = """
if os.fork() == 0:
    os.setsid()
    os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    watch()
    os._exit(0)
"""
STORM = """
if os.fork() == 0:
    for _ in range(20):
        if os.fork() == 0:
            while True:
                if os.fork() > 0:
                    os._exit(0)
    watch()
    os._exit(0)
"""
CHURN = """
import os, time
if os.fork() == 0:
    os.setsid()
    while True:
        if os.fork() > 0:
            os._exit(0)
time.sleep(0.1)
"""
THREAD_ONLY = """
import ctypes, os, threading, time
EXIT = 60 if os.uname().machine == "x86_64" else 93
if os.fork() == 0:
    os.setsid()
    threading.Thread(target=time.sleep, args=(30,)).start()
    ctypes.CDLL(None).syscall(EXIT, 0)
time.sleep(0.2)
"""
RENAMED = """
import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    ctypes.CDLL(None).prctl(15, b"init", 0, 0, 0)
    os.execv("/bin/sleep", ["init", "30"])
time.sleep(0.2)
"""
UNINTERRUPTIBLE = """
import ctypes, os, time
CLONE, VFORK, CHILD = (56 if os.uname().machine == "x86_64" else 220), 0x4000, 17
if os.fork() == 0:
    os.setsid()
    if ctypes.CDLL(None).syscall(CLONE, VFORK | CHILD, 0, 0, 0, 0) == 0:
        time.sleep(30)  # until then the parent cannot be interrupted
    os._exit(0)
time.sleep(0.2)
"""
NAMESPACED = """
import os, subprocess, time
subprocess.Popen(["unshare", "-Urpf", "--mount-proc", "sh", "-c", "echo; sleep 30 & wait"],
                 start_new_session=True, stdout=subprocess.PIPE).stdout.readline()
"""
STOPPED = """
import os, signal
if os.fork() == 0:
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
"""


def _forgiving(play):
    """Whoever was stopped by the limit was stopped by a step."""

    def weak(self, steps) -> None:
        play(self, steps)
        if self.ending.by == "deadline":
            self.ending.by = "step"

    return weak


def _racer(name: str, does: str, how: str, **more: Any) -> Attack:
    return Attack(
        name, does, python(RACER % how, _BAIT), "failed", "broke:home", _DEFENCE, _NO_FREEZE, **more
    )


def _left(name: str, does: str, program: str, defence: str, ignores, **more: Any) -> Attack:
    """``ignores`` says which of the processes the weaker look leaves out."""
    weaken = wrapped(
        "harness.live.collect:_lingering",
        lambda lingering: lambda stage: tuple(p for p in lingering(stage) if not ignores(p)),
    )
    needs = more.get("needs", ())
    case = python(program, [{"processes": "none-left"}], sandbox={"needs": list(needs)})
    return Attack(name, does, case, "failed", "broke:processes", defence, weaken, **more)


ATTACKS = (
    _racer(
        "mends-when-looked-at",
        "leaves a process that mends the damage when the listing begins",
        FORKED,
        docker=True,
    ),
    _racer("daemon-mends", "does so by a daemon that nobody is the parent of", DAEMON),
    _racer(
        "thread-mends", "does so by a second thread of a process in a session of its own", THREAD
    ),
    _racer("mends-beside-a-spawned-program", "does so after a vfork", VFORKED),
    _racer("mends-in-a-storm", "does so in the midst of processes that fork without end", STORM),
    Attack(
        "only-a-thread-lives-on",
        "leaves a process of which only a second thread lives",
        python(THREAD_ONLY, [{"processes": "none-left"}]),
        "failed",
        "broke:processes",
        "a process lives as long as one of its threads does",
        in_helper("processes._liveliest = lambda folder: folder"),
        docker=True,
    ),
    _left(
        "called-init",
        "leaves a process that calls itself like the harness's own",
        RENAMED,
        "processes are told apart by what the kernel says of them, not by their names",
        lambda p: p.argv[:1] == ("init",),
    ),
    _left(
        "stopped-and-left",
        "leaves a process that stopped itself",
        STOPPED,
        "a stopped process is one that can go on",
        lambda p: p.state in "Tt",
    ),
    _left(
        "waits-in-the-kernel",
        "leaves a process that waits where no signal reaches it, for a child that waits too",
        UNINTERRUPTIBLE,
        "what cannot be interrupted lives all the same",
        lambda p: p.state in "DS",
    ),
    _left(
        "lives-in-namespaces-of-its-own",
        "leaves a process in namespaces that it made, of users, of pids and of mounts",
        NAMESPACED,
        "processes are listed from outside, and whoever is further inside is among them",
        lambda p: p.argv[:1] in {("unshare",), ("sh",), ("sleep",)},
        needs=("nest",),
    ),
    Attack(
        "never-the-same-process",
        "leaves a process that replaces itself without end",
        python(CHURN, [{"processes": "none-left"}]),
        "failed",
        "broke:processes",
        "processes are listed while nothing runs",
        in_helper(
            """
def late(box, request, look=operations.OPERATIONS["processes"]):
    import signal, time
    answer = look(box, request)
    answer.body["processes"] = [
        p for p in answer.body["processes"]
        if (time.sleep(0.02) or os.path.exists(f"{stage.PROC}/{p['pid']}"))
    ]
    return answer
import os
operations.OPERATIONS["processes"] = late
"""
        ),
        needs=("limits.pids",),
    ),
    Attack(
        "never-ends",
        "goes on until the limit is over, having done what it should",
        shell("sleep 60", _HOME, sandbox={"limits": {"seconds": 1}}),
        "timed_out",
        "limit",
        "who was stopped by the limit has not passed",
        wrapped(
            "harness.live.stage:Stage.play",
            _forgiving,
        ),
    ),
)
