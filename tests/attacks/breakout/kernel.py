"""Ways through the kernel: its files, its calls, its devices, its control groups."""

from __future__ import annotations

import socket

from tests.attacks.breakout.decoys import BURST, SLEEP
from tests.attacks.breakout.form import AGENT, ROOT, Bare, Breakout, Naive, Patched

_NO_FILTER = Patched("launch._FILTERS = {False: b'', True: b''}")
_WHOLE_PROC = Patched(
    "mounts.mount_proc = lambda: kernel.mount('proc', stage.PROC, 'proc', 14)", user=ROOT
)
_FILTER = "the system-call filter"
_BOTH = "the system-call filter, and no capability"
_ENDANGERS = "it would change the machine; that the kernel refuses it is what is shown"
_LEAVE = "leave(d['token'] + '-{}')"


def _holds(name, what):
    return lambda decoys, seen: decoys.holds(name, what)


def _refused(name):
    return lambda decoys, seen: seen.ended[name] not in {"EPERM", "ENOSYS", "EACCES"}


def _user_namespace(name, making):
    return Breakout(
        name,
        f"makes a user namespace with `{name.partition('-')[0]}`, in which it has every capability",
        making + "\n" + _LEAVE.format(name),
        lambda decoys, seen: decoys.apart(name, "user"),
        _FILTER,
        _NO_FILTER,
        users=(AGENT, ROOT),
    )


BREAKOUTS = (
    _user_namespace("unshare-a-user-namespace", "checked(libc.unshare(0x10000000))"),
    _user_namespace(
        "clone-a-user-namespace",
        "if call(56, 0x10000000 | 17, 0, 0, 0, 0): os._exit(0)",
    ),
    _user_namespace(
        "clone3-a-user-namespace",
        "import struct\na = ctypes.create_string_buffer(struct.pack('8Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0))\n"
        "if call(435, a, 64): os._exit(0)",
    ),
    Breakout(
        "kernel-setting",
        "writes to a setting of the whole machine below `/proc/sys`",
        "put('/proc/sys/kernel/printk_ratelimit_burst', d['burst'])",
        lambda decoys, seen: decoys.moved(BURST),
        "`/proc/sys` is mounted read-only",
        _WHOLE_PROC,
    ),
    Breakout(
        "core-pattern",
        "has the host's kernel run a program when a process dumps core, by `core_pattern`",
        "put('/proc/sys/kernel/core_pattern', open('/proc/sys/kernel/core_pattern').read())",
        lambda decoys, seen: seen.ended["core-pattern"] == "done",
        "`/proc/sys` is mounted read-only",
        _WHOLE_PROC,
    ),
    Breakout(
        "memory-of-the-kernel",
        "reads the memory of the whole machine from `/proc/kcore`, `/dev/mem` and `/dev/port`",
        "ways(*[lambda p=p: show(p) for p in ('/proc/kcore', '/dev/mem', '/dev/port')])",
        lambda decoys, seen: b"ELF" in seen.out["memory-of-the-kernel"],
        "such files are covered, such devices are not there, and no capability",
        "not every kernel has them",
    ),
    Breakout(
        "device-node",
        "makes a device of its own, that of the kernel's log, and writes to it",
        "import stat\n"
        "def node(p):\n"
        "    p += '/node-' + d['token']\n"
        "    os.mknod(p, stat.S_IFCHR | 0o666, os.makedev(1, 11))\n"
        "    try: put(p, 'decoy ' + d['token'])\n"
        "    finally: os.unlink(p)\n"
        "ways(*[lambda p=p: node(p) for p in ('/tmp', '/workspace', '/dev', '/dev/shm')])",
        lambda decoys, seen: decoys.logged(),
        "no capability, and mounts with `nodev`",
        Bare(root=True),
    ),
    Breakout(
        "sysfs",
        "writes to a setting of the whole machine below `/sys`, mounting it where it is not",
        "p = '/sys/kernel/mm/ksm/sleep_millisecs'\n"
        "try: mount('x', '/sys', 'sysfs')\nexcept OSError: pass\n"
        "put(p, d['sleep'])",
        lambda decoys, seen: decoys.moved(SLEEP),
        "no `/sys` is shown, and none can be mounted",
        Bare(root=True),
    ),
    Breakout(
        "trace-marker",
        "mounts the kernel's tracing and writes into its buffer",
        "mount('x', '/mnt', 'tracefs')\nput('/mnt/trace_marker', 'decoy ' + d['token'])",
        lambda decoys, seen: decoys.traced(),
        _BOTH,
        Naive(),
    ),
    Breakout(
        "release-agent",
        "mounts control groups and has the host's kernel run a program as root when one is "
        "empty (CVE-2022-0492)",
        "mount('x', '/mnt', 'cgroup', 0, 'none,name=decoy' + d['token'])\n"
        "g = '/mnt/g'\nos.mkdir(g)\nput('/mnt/release_agent', d['folder'] + '/agent.sh')\n"
        "put(g + '/notify_on_release', '1')\n"
        "if not (pid := os.fork()):\n"
        "    put(g + '/cgroup.procs', str(os.getpid())); os._exit(0)\n"
        "os.waitpid(pid, 0)\nimport time\n"
        "for _ in range(100):\n"
        "    try: os.rmdir(g); break\n"
        "    except OSError: time.sleep(0.01)",
        lambda decoys, seen: (decoys.folder / "released").exists(),
        _BOTH,
        Naive(),
    ),
    Breakout(
        "leave-the-control-group",
        "mounts the tree of memory limits and moves itself to its root",
        "try: mount('x', '/mnt', 'cgroup', 0, 'memory')\n"
        "except OSError: mount('x', '/mnt', 'cgroup2')\n"
        "put('/mnt/cgroup.procs', str(os.getpid()))\n" + _LEAVE.format("leave-the-control-group"),
        lambda decoys, seen: decoys.unlimited("leave-the-control-group"),
        _BOTH,
        Naive(),
    ),
    Breakout(
        "new-mount-calls",
        "mounts control groups by `fsopen`, `fsconfig`, `fsmount` and `open_tree`",
        "ways(lambda: call(428, -100, b'/', 1), lambda: call(430, b'cgroup2', 0))\n"
        "f = call(430, b'cgroup2', 0)\ncall(431, f, 6, None, None, 0)\n"
        "m = call(432, f, 0, 0)\nos.set_inheritable(m, True)\nos.fchdir(m)\n"
        "put('cgroup.procs', str(os.getpid()))\n" + _LEAVE.format("new-mount-calls"),
        lambda decoys, seen: decoys.in_control_groups("new-mount-calls"),
        _FILTER,
        Naive(),
    ),
    Breakout(
        "bpf",
        "loads a map into the kernel",
        "import struct\na = ctypes.create_string_buffer(struct.pack('5I', 2, 4, 8, 1, 0), 128)\n"
        "call(321, 0, a, 128)\n" + _LEAVE.format("bpf"),
        _holds("bpf", "bpf-map"),
        _BOTH,
        Naive(),
    ),
    Breakout(
        "perf-events",
        "counts what the whole machine does",
        "import struct\na = ctypes.create_string_buffer(struct.pack('2I2Q', 1, 112, 0, 0), 112)\n"
        "call(298, a, -1, 0, -1, 0)\n" + _LEAVE.format("perf-events"),
        _holds("perf-events", "perf_event"),
        _BOTH,
        Naive(),
    ),
    Breakout(
        "page-faults",
        "handles page faults of the kernel itself, which holds up its calls at will",
        "call(323, 0)\n" + _LEAVE.format("page-faults"),
        _holds("page-faults", "userfaultfd"),
        _BOTH,
        Naive(),
    ),
    Breakout(
        "watch-the-host",
        "watches all that is opened in a folder of the host",
        "f = checked(libc.fanotify_init(0, 0))\n"
        "checked(libc.fanotify_mark(f, 0x11, ctypes.c_ulong(0x20), -100, d['shown'].encode()))\n"
        + _LEAVE.format("watch-the-host"),
        _holds("watch-the-host", "fanotify"),
        "no capability",
        Naive(),
    ),
    Breakout(
        "hostname",
        "gives the host another name",
        "checked(libc.sethostname(b'decoyed', 7))",
        lambda decoys, seen: decoys.host.do(socket.gethostname) == "decoyed",
        "no capability, and a UTS namespace of its own",
        Bare(root=True),
    ),
    Breakout(
        "clock",
        "sets the clock of the machine, at once and bit by bit",
        "import time\nways(lambda: time.clock_settime(0, time.time() + 0), lambda: "
        "checked(libc.clock_adjtime(0, ctypes.create_string_buffer(b'\\1\\x40', 256))))",
        _refused("clock"),
        "no capability",
        _ENDANGERS,
    ),
    Breakout(
        "kernel-module",
        "loads a module into the kernel",
        "ways(lambda: call(175, b'x', 1, b''), lambda: call(313, 0, b'', 0))",
        _refused("kernel-module"),
        _BOTH,
        _ENDANGERS,
    ),
    Breakout(
        "other-kernel",
        "loads another kernel",
        "ways(lambda: call(246, 0, 0, 0, 0), lambda: call(320, -1, -1, 1, b'', 0))",
        _refused("other-kernel"),
        _BOTH,
        _ENDANGERS,
    ),
    Breakout(
        "reboot",
        "restarts the machine",
        "call(169, 0xFEE1DEAD, 672274793, 0x1234567, 0)",
        _refused("reboot"),
        _BOTH,
        _ENDANGERS,
    ),
    Breakout(
        "swap-and-accounting",
        "has the kernel swap to a file of its own, and account for processes in it",
        "put('/tmp/swap', bytes(8192), os.O_WRONLY | os.O_CREAT)\n"
        "ways(lambda: call(167, b'/tmp/swap', 0), lambda: call(163, b'/tmp/swap'))",
        _refused("swap-and-accounting"),
        _BOTH,
        _ENDANGERS,
    ),
)
