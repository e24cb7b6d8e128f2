"""Repositories whose data is made to hurt whoever reads it."""

from __future__ import annotations

import json
import time

import pytest

#: Makes one hostile repository in the current folder: ``blob`` is what is at README.md on main.
MAKE = """
import hashlib, os, struct, sys, zlib

def put(kind, data, named=None, raw=None):
    whole = kind + b" %d\\0" % len(data) + data
    name = named or hashlib.sha1(whole).hexdigest()
    os.makedirs(f".git/objects/{name[:2]}", exist_ok=True)
    with open(f".git/objects/{name[:2]}/{name[2:]}", "wb") as file:
        file.write(zlib.compress(whole, 1) if raw is None else raw)
    return name

def tree(*entries):
    return put(b"tree", b"".join(b"%s %s\\0" % (m, n) + bytes.fromhex(i) for m, n, i in entries))

def commit(tree, parent=""):
    text = f"tree {tree}\\n{parent}author a <a> 1 +0000\\ncommitter a <a> 1 +0000\\n\\nOne\\n"
    return put(b"commit", text.encode())

def pack(*entries):
    body = b"PACK" + struct.pack(">LL", 2, len(entries)) + b"".join(entries)
    os.makedirs(".git/objects/pack")
    with open(".git/objects/pack/pack-x.pack", "wb") as file:
        file.write(body + hashlib.sha1(body).digest())

def size(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128); value >>= 7
    return bytes([*out, value])

def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text)

def wide(depth):
    entry = put(b"blob", b"x")
    inner = tree(*((b"100644", b"%02d" % n, entry) for n in range(30)))
    for _ in range(depth):
        inner = tree(*((b"40000", b"%02d" % n, inner) for n in range(30)))
    return inner

def deep():
    inner = tree((b"100644", b"x", put(b"blob", b"x")))
    for _ in range(300):
        inner = tree((b"40000", b"d", inner))
    return inner

def big_delta():
    base = zlib.compress(bytes(65535))
    ops = bytes([0xB0, 255, 255]) * 40000
    delta = size(65535) + size(65535 * 40000) + ops
    head = bytes([0xB0 | (65535 & 15)]) + size(65535 >> 4) + base
    more = bytes([0xE0 | (len(delta) & 15)]) + size(len(delta) >> 4)
    back = len(head)
    off = bytes([((back >> 7) - 1) & 127 | 128, back & 127]) if back > 127 else bytes([back])
    pack(head, more + off + zlib.compress(delta))

def ring():
    os.remove(".git/refs/heads/main")
    write(".git/refs/heads/main", b"ref: refs/heads/a\\n")
    write(".git/refs/heads/a", b"ref: refs/heads/main\\n")

HOSTILE = {
    "bomb": lambda: put(b"blob", b"", "ab" * 20, zlib.compress(b"blob 99\\0" + bytes(64 << 20), 1)),
    "delta": big_delta,
    "wide": lambda: write(".git/refs/heads/main", commit(wide(6)).encode()),
    "deep": lambda: write(".git/refs/heads/main", commit(deep()).encode()),
    "ring": ring,
    "garbage": lambda: put(b"blob", b"", BLOB, b"no zlib at all"),
    "liar": lambda: put(b"blob", b"", BLOB, zlib.compress(b"blob 5\\0other")),
    "index": lambda: write(".git/index", b"DIRC" + struct.pack(">LL", 2, 4_000_000_000)),
    "sha256": lambda: write(".git/refs/heads/main", b"a" * 64),
    "reftable": lambda: os.makedirs(".git/reftable"),
    "config": lambda: write(".git/config", b"[" * 500_000),
    "sound": lambda: None,
}
BLOB = put(b"blob", b"hello\\n")
for folder in ("refs/heads", "info"):
    os.makedirs(f".git/{folder}")
write(".git/HEAD", b"ref: refs/heads/main\\n")
write(".git/refs/heads/main", commit(tree((b"100644", b"README.md", BLOB))).encode())
HOSTILE[sys.argv[1]]()
"""
#: Of what is sound, or lies beside what is asked, all can be told.
SOUND = {"config", "sound"}
NAMES = [
    "bomb",
    "delta",
    "wide",
    "deep",
    "ring",
    "garbage",
    "liar",
    "index",
    "sha256",
    "reftable",
    "config",
    "sound",
]


@pytest.mark.timeout(120)
def test_hostile_data_is_left_in_time_and_told(shakeout):
    contains = {"ref": "main", "path": "README.md", "equals": "hello\n"}
    expect = [{"id": name, "git": {"repo": name, "contains": contains}} for name in NAMES]
    script = "".join(
        f"mkdir {name}; (cd {name}; python3 ../make.py {name}) || exit 9\n" for name in NAMES
    )
    files = {"make.py": MAKE, "make.sh": script}
    path = shakeout.case(
        "data",
        "title: t\nsubject: {command: [sh, make.sh]}\n"
        f"workspace: {{files: {json.dumps(files)}}}\n"
        f"expect: {json.dumps([{'exit': 0}, *expect])}\n",
    )
    begun = time.monotonic()

    ran = shakeout("run", path, "--out", shakeout.folder / "out")

    (verdict,) = shakeout.folder.glob("out/trials/*/verdict.json")
    first, *found = json.loads(verdict.read_text())["expect"][:-1]
    assert first["verdict"] == "passed", ran.out
    assert {entry["id"] for entry in found if entry["verdict"] == "passed"} == SOUND
    assert {entry["id"] for entry in found if entry["reason"] == "not-observed"} == {*NAMES} - SOUND
    assert time.monotonic() - begun < 60
