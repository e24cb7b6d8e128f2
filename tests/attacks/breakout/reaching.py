"""Ways to files, sockets and networks of the host."""

from __future__ import annotations

from tests.attacks.breakout.decoys import KNOWN_SOCKETS
from tests.attacks.breakout.form import AGENT, NESTED, Bare, Breakout, Naive, Patched

_NO_NETWORK_OF_ITS_OWN = Patched("kernel.NEWNET = 0\nnetwork.raise_loopback = lambda: None")
_NO_IPC_OF_ITS_OWN = Patched("kernel.NEWIPC = 0")
_HOST_ROOT = Patched("server._free_uid = lambda: 0")
_RUN_SHOWN = Patched(
    "built_options = mounts.bubblewrap\n"
    "mounts.bubblewrap = lambda *a, **k: [*built_options(*a, **k), '--bind', '/run', '/run']\n"
)
_LIST = "what is shown of the host is a list, and none of its folders is on it"
_NETWORK = "a network namespace of its own"
_IPC = "an IPC namespace of its own"


def _read(name):
    return lambda decoys, seen: decoys.canary.encode() in seen.out[name]


def _knocked(*names):
    return lambda decoys, seen: any(decoys.knocked(name) for name in names)


BREAKOUTS = (
    Breakout(
        "read-a-file-of-the-host",
        "reads a file by its path on the host, and through `/proc/1/root`",
        "p = d['folder'] + '/secret'\nways(lambda: show(p), lambda: show('/proc/1/root' + p))",
        _read("read-a-file-of-the-host"),
        _LIST,
        Bare(),
    ),
    Breakout(
        "write-a-file-to-the-host",
        "writes into a folder of the host that everybody may write to",
        "put(d['folder'] + '/open/written', 'x', os.O_WRONLY | os.O_CREAT)",
        lambda decoys, seen: (decoys.folder / "open/written").exists(),
        _LIST,
        Bare(),
    ),
    Breakout(
        "read-as-host-root",
        "reads what root alone may read, in a folder that is shown",
        "show(d['shown'] + '/private')",
        _read("read-as-host-root"),
        "the agent's user owns nothing on the host",
        _HOST_ROOT,
        users=(AGENT, NESTED),
    ),
    Breakout(
        "socket-through-a-read-only-bind",
        "connects to a socket of root's in a folder that is shown read-only",
        "knock(socket.AF_UNIX, d['shown'] + '/socket')",
        _knocked("private"),
        "the agent's user owns nothing on the host",
        _HOST_ROOT,
        users=(AGENT, NESTED),
    ),
    Breakout(
        "write-to-what-is-shown",
        "makes what is shown writable again, and writes to a file that everybody may write",
        "p = d['shown'] + '/writable'\n"
        "ways(lambda: mount('', d['shown'], '', 4096 | 32), lambda: put(p, 'X'))\nput(p, 'X')",
        lambda decoys, seen: (decoys.shown / "writable").read_text()[0] == "X",
        "what is shown is mounted read-only, and cannot be mounted otherwise from inside",
        Patched(
            "shown = mounts.mounted\n"
            "mounts.mounted = lambda spec: ((s, t, True) for s, t, _ in shown(spec))"
        ),
    ),
    Breakout(
        "setuid-program",
        "runs a program of root's with the setuid bit that says who it is",
        "os.closerange(3, 256)\np = d['shown']\nos.execv(p + '/suid-id', ['id'])",
        lambda decoys, seen: b"euid=0" in seen.out["setuid-program"],
        "`no_new_privs`, an empty bounding set, and mounts with `nosuid`",
        Bare(),
        users=(AGENT, NESTED),
    ),
    Breakout(
        "setuid-copied-up",
        "has an overlay of its own copy a program of root's with the setuid bit to where it may "
        "run it (CVE-2023-0386)",
        "b = d['folder'] + '/open' if os.path.exists(d['folder']) else '/workspace'\n"
        "for n in ('up', 'work', 'at'): os.makedirs(f'{b}/{n}', exist_ok=True)\n"
        "mount('o', b + '/at', 'overlay', 0,\n"
        "      f'lowerdir={d[\"shown\"]},upperdir={b}/up,workdir={b}/work')\n"
        "open(b + '/at/suid-id', 'ab').close()",
        lambda decoys, seen: decoys.rooted("up/suid-id"),
        "the system-call filter; in a user namespace, root's files cannot be copied",
        Bare(root=True, options=("--mount",)),
    ),
    Breakout(
        "file-system-of-its-own",
        "opens the device behind which a program answers for files, and holds up who looks at them",
        "def made():\n"
        "    import stat\n"
        "    p = '/tmp/fuse-' + d['token']\n"
        "    os.mknod(p, stat.S_IFCHR | 0o666, os.makedev(10, 229))\n"
        "    try: os.open(p, os.O_RDWR)\n"
        "    finally: os.unlink(p)\n"
        "ways(lambda: os.open('/dev/fuse', os.O_RDWR), made)\n"
        "leave(d['token'] + '-file-system-of-its-own')",
        lambda decoys, seen: decoys.holds("file-system-of-its-own", "fuse"),
        "such devices are not there, no capability, and mounts with `nodev`",
        Bare(root=True),
    ),
    Breakout(
        "file-by-handle",
        "opens a file of the host by its handle, below a mount of the same file system (shocker)",
        "m = os.open(d['shown'], os.O_RDONLY)\n"
        "h = ctypes.create_string_buffer(bytes.fromhex(d['handle']), 160)\n"
        "os.write(1, os.read(call(304, m, h, os.O_RDONLY), 100))",
        _read("file-by-handle"),
        "the system-call filter, and no capability",
        Naive(),
    ),
    Breakout(
        "inherited-folder",
        "looks for an open folder of the host among its descriptors and goes up from there "
        "(CVE-2024-21626)",
        "p = d['folder'][1:] + '/secret'\n"
        "def up(n):\n"
        "    os.write(1, os.read(os.open('../' * n[1] + p, os.O_RDONLY, dir_fd=n[0]), 100))\n"
        "def cwd(n):\n"
        "    os.chdir(f'/proc/self/fd/{n}'); show(p)\n"
        "ways(*[lambda n=(n, u): up(n) for n in range(3, 64) for u in (0, 9)],\n"
        "     *[lambda n=n: cwd(n) for n in range(3, 64)])",
        _read("inherited-folder"),
        "every descriptor but the three standard ones is closed before a program starts",
        Patched(
            "import types\nlaunch.os = types.SimpleNamespace(**{**vars(os), 'closerange': lambda *_: None})"
        ),
    ),
    Breakout(
        "inherited-file",
        "reads a file of root's that the helper has open, by each of its descriptors",
        "ways(*[lambda n=n: os.write(1, os.pread(n, 100, 0)) for n in range(3, 64)])",
        _read("inherited-file"),
        "every descriptor but the three standard ones is closed before a program starts",
        Patched(
            "import types\nlaunch.os = types.SimpleNamespace(**{**vars(os), 'closerange': lambda *_: None})"
        ),
    ),
    Breakout(
        "unix-socket-by-path",
        "connects to a socket of the host by its path",
        "knock(socket.AF_UNIX, d['folder'] + '/socket')",
        _knocked("path"),
        _LIST,
        Bare(),
    ),
    Breakout(
        "engine-and-desktop-sockets",
        "connects to the sockets of Docker, containerd, Podman, D-Bus and the key agent",
        "ways(*[lambda p=p: knock(socket.AF_UNIX, p) for p in d['known']])",
        lambda decoys, seen: any(map(decoys.knocked, KNOWN_SOCKETS)),
        "nothing of the host's `/run` is shown",
        _RUN_SHOWN,
    ),
    Breakout(
        "abstract-unix-socket",
        "connects to a socket of the host that has a name and no path",
        "knock(socket.AF_UNIX, '\\0' + d['abstract'])",
        _knocked("abstract"),
        _NETWORK,
        _NO_NETWORK_OF_ITS_OWN,
    ),
    Breakout(
        "x11-socket",
        "connects to the display of the host, which listens under an abstract name too",
        "knock(socket.AF_UNIX, '\\0/tmp/.X11-unix/X0')",
        _knocked("x11"),
        _NETWORK,
        _NO_NETWORK_OF_ITS_OWN,
    ),
    Breakout(
        "host-loopback",
        "connects to a listener on the host's own loopback address",
        "knock(socket.AF_INET, ('127.0.0.1', d['port']))",
        _knocked("tcp"),
        _NETWORK,
        _NO_NETWORK_OF_ITS_OWN,
    ),
    Breakout(
        "host-resolver",
        "asks the host's resolver for a name that carries a message",
        "knock(socket.AF_INET, ('127.0.0.53', 53), socket.SOCK_DGRAM)",
        _knocked("dns"),
        _NETWORK,
        _NO_NETWORK_OF_ITS_OWN,
    ),
    Breakout(
        "hypervisor-socket",
        "connects by VSOCK, which no network namespace holds, to the host and to itself",
        "ways(*[lambda c=c: knock(socket.AF_VSOCK, (c, d['vsock'])) for c in (0, 1, 2)])",
        _knocked("vsock"),
        "the system-call filter refuses the family",
        "only a hypervisor, or a kernel with its loopback module, would let it arrive",
    ),
    Breakout(
        "raw-frame",
        "sends a frame by hand, past every table of addresses",
        "for f in (socket.SOCK_RAW,):\n"
        "    s = socket.socket(socket.AF_PACKET, f, 0x0300)\n"
        "    s.bind(('lo', 0)); s.send(bytes(14) + d['token'].encode() * 4)",
        lambda decoys, seen: decoys.framed(decoys.token.encode() * 4),
        "no capability over the network, and a namespace of its own",
        Bare(root=True),
    ),
    Breakout(
        "address-of-the-host",
        "takes another address on the loopback device, as a server next door may have it",
        "import fcntl, struct\n"
        "a = struct.pack('16sHH4s8x', b'lo:9', socket.AF_INET, 0, bytes([127, 9, 9, 9]))\n"
        "fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8916, a)",
        lambda decoys, seen: decoys.addresses(),
        "no capability over the network, and a namespace of its own",
        Bare(root=True),
    ),
    Breakout(
        "shared-memory-of-the-host",
        "attaches a System V segment of the host by its key and writes to it",
        "libc.shmat.restype = ctypes.c_void_p\n"
        "at = libc.shmat(checked(libc.shmget(0x5EED, 4096, 0)), None, 0)\n"
        "ctypes.memmove(at, b'written', 7)",
        lambda decoys, seen: decoys.segment_text() == b"written",
        _IPC,
        _NO_IPC_OF_ITS_OWN,
    ),
    Breakout(
        "message-queue-of-the-host",
        "sends to a POSIX message queue of the host",
        "q = checked(libc.mq_open(b'/decoy', os.O_WRONLY))\nchecked(libc.mq_send(q, b'x', 1, 0))",
        lambda decoys, seen: decoys.queued() > 0,
        _IPC,
        _NO_IPC_OF_ITS_OWN,
    ),
    Breakout(
        "keyring-of-the-host",
        "reads a key from the session keyring that it inherits from whoever started the harness",
        "k = call(250, 10, -3, b'user', b'decoy', 0)\n"
        "b = ctypes.create_string_buffer(100)\ncall(250, 11, k, b, 100)\nos.write(1, b.value)",
        _read("keyring-of-the-host"),
        "the system-call filter",
        Patched("launch._FILTERS = {False: b'', True: b''}"),
    ),
    Breakout(
        "leaked-namespace",
        "joins a network namespace that it finds among its descriptors, and those of pid 1",
        "ways(lambda: checked(libc.setns(os.open('/proc/1/ns/net', os.O_RDONLY), 0)),\n"
        "     *[lambda n=n: checked(libc.setns(n, 0)) for n in range(3, 64)])\n"
        "knock(socket.AF_UNIX, '\\0' + d['abstract'])",
        _knocked("abstract"),
        "no descriptor is left to find, and the system-call filter refuses to join",
        Bare(root=True, options=("--net",)),
    ),
)
