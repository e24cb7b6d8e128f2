"""Ways to processes: those of the host, of other trials, and pid 1 of the sandbox."""

from __future__ import annotations

from tests.attacks.breakout.form import AGENT, NESTED, Bare, Breakout, Naive, Patched

_PIDS = "a pid namespace of its own"
_HIDDEN = "pid 1 is not dumpable, and has more capabilities than anybody inside"
_NOT_EVERY_ROOT = "it takes `CAP_SYS_RESOURCE`, which not every root has"
_LEAVE = "leave(d['token'] + '-{}')"


def _read(name):
    return lambda decoys, seen: decoys.canary.encode() in seen.out[name]


BREAKOUTS = (
    Breakout(
        "kill-a-process-of-the-host",
        "signals processes of the host and of another trial by their numbers",
        "ways(*[lambda p=p: os.kill(p, signal.SIGKILL) for p in d['victims']])",
        lambda decoys, seen: decoys.dead(),
        _PIDS,
        Bare(),
    ),
    Breakout(
        "signal-everybody",
        "signals everything that its user may signal",
        "os.kill(-1, signal.SIGUSR1)",
        lambda decoys, seen: decoys.dead(),
        _PIDS,
        Bare(),
    ),
    Breakout(
        "stop-a-process-of-the-host",
        "stops processes of the host and of another trial",
        "ways(*[lambda p=p: os.kill(p, signal.SIGSTOP) for p in d['victims']])",
        lambda decoys, seen: decoys.stopped(),
        _PIDS,
        Bare(),
    ),
    Breakout(
        "environment-of-the-host",
        "reads the environment and the files of the host's processes below `/proc`",
        "import glob\nfor p in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: show(p)\n    except OSError: pass\n"
        "for p in d['victims']:\n    show(f'/proc/{p}/root{d[\"folder\"]}/secret')",
        _read("environment-of-the-host"),
        _PIDS,
        Bare(),
    ),
    Breakout(
        "memory-of-pid-1",
        "searches the memory of pid 1 for what the harness has told it",
        "import re\n"
        "def search():\n"
        "    with open('/proc/1/maps') as maps, open('/proc/1/mem', 'rb', 0) as mem:\n"
        "        for line in maps:\n"
        "            a, b = (int(x, 16) for x in line.split()[0].split('-'))\n"
        "            if ' rw' in line and b - a < 1 << 26:\n"
        "                try: mem.seek(a); data = mem.read(b - a)\n"
        "                except (OSError, ValueError): continue\n"
        "                for hit in re.findall(rb'canary-[0-9a-f]{16}', data): os.write(1, hit)\n"
        "search()",
        _read("memory-of-pid-1"),
        _HIDDEN,
        Naive(),
    ),
    Breakout(
        "program-of-pid-1",
        "takes hold of the program that pid 1 runs, to overwrite it when it ends (CVE-2019-5736)",
        "os.open('/proc/1/exe', os.O_PATH)\nos.write(1, b'held')",
        lambda decoys, seen: seen.out["program-of-pid-1"] == b"held",
        _HIDDEN,
        Naive(),
    ),
    Breakout(
        "trace-pid-1",
        "traces pid 1, which is to die with whoever traces it",
        "checked(libc.ptrace(0x4206, 1, None, ctypes.c_void_p(1 << 20)))",
        lambda decoys, seen: "trace-pid-1" not in seen.ended,
        _HIDDEN,
        Naive(),
    ),
    Breakout(
        "descriptors-of-pid-1",
        "takes the descriptors of pid 1, by `pidfd_getfd` and by `/proc`",
        "os.closerange(3, 256)\n"
        "def take(n):\n"
        "    os.write(1, os.pread(call(438, os.pidfd_open(1), n, 0), 100, 0))\n"
        "ways(*[lambda n=n: take(n) for n in range(3, 64)],\n"
        "     *[lambda n=n: show(f'/proc/1/fd/{n}') for n in range(3, 64)])",
        _read("descriptors-of-pid-1"),
        _HIDDEN,
        Naive(),
    ),
    Breakout(
        "type-on-the-terminal",
        "types on the terminal that the harness was started from (CVE-2017-5226)",
        "import fcntl\n"
        "def each(f):\n"
        "    for c in d['token'] + '\\n': fcntl.ioctl(f, 0x5412, c.encode())\n"
        "ways(*[lambda n=n: each(n) for n in range(64)],\n"
        "     lambda: each(os.open('/dev/tty', os.O_RDWR)))",
        lambda decoys, seen: decoys.token.encode() in decoys.typed_text(),
        "a session of its own",
        Patched(
            "import types\n"
            "launch.os = types.SimpleNamespace(**{**vars(os), 'setsid': lambda: None})"
        ),
    ),
    Breakout(
        "before-everybody",
        "takes the processor from everybody: real-time scheduling, and the lowest nice value",
        "ways(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),\n"
        "     lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))\n"
        + _LEAVE.format("before-everybody"),
        lambda decoys, seen: (
            decoys.stat_of("before-everybody", 41) > 0
            or decoys.stat_of("before-everybody", 19) < -1
        ),
        "no capability",
        Naive(),
    ),
    Breakout(
        "last-to-die",
        "has the kernel spare it when memory runs out, so that others die",
        "put('/proc/self/oom_score_adj', '-900')\n" + _LEAVE.format("last-to-die"),
        lambda decoys, seen: decoys.file_of("last-to-die", "oom_score_adj").startswith("-"),
        "no capability",
        _NOT_EVERY_ROOT,
    ),
    Breakout(
        "more-descriptors",
        "raises its hard limit of open files",
        "import resource\nm = resource.getrlimit(7)[1] + 1\n"
        "checked(libc.setrlimit(7, (ctypes.c_ulong * 2)(m, m)))\n"
        + _LEAVE.format("more-descriptors"),
        lambda decoys, seen: bool(decoys.left("more-descriptors")),
        "no capability",
        _NOT_EVERY_ROOT,
    ),
    Breakout(
        "setuid-file-of-root",
        "leaves a file of root's with the setuid bit where the host's user may run it",
        "p = d['folder'] + '/open/rooted' if os.path.exists(d['folder']) else '/workspace/rooted'\n"
        "put(p, 'x', os.O_WRONLY | os.O_CREAT)\nos.chown(p, 0, 0)\nos.chmod(p, 0o4755)",
        lambda decoys, seen: decoys.rooted(),
        "no capability",
        Bare(root=True),
        users=(AGENT, NESTED),
    ),
)
