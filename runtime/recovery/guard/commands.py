"""What the programs of this world write, by name: data for the shell's reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.recovery.guard.table import Effect


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs that only read or print, whatever their arguments.
READERS: Final = _words(
    "cat head tail ls dir stat file wc grep egrep fgrep rg cut sort uniq tr echo printf true false "
    "test [ pwd cd basename dirname realpath readlink date id whoami hostname uname env printenv "
    "which type command du df ps top free uptime diff cmp comm md5sum sha1sum sha256sum sha512sum "
    "cksum jq yq column nl od xxd hexdump strings less more seq sleep wait expr tty locale getent "
    "dig host nslookup ping ss netstat lsof lsblk mountpoint tree fold paste rev tac exit return :"
)

#: Programs whose effect is known by their name.
PROGRAMS: Final[Mapping[str, Effect]] = {
    **dict.fromkeys(
        _words(
            "sudo su doas pkexec runuser run0 chmod chown chgrp setfacl chattr setcap mount umount "
            "useradd usermod userdel groupadd gpasswd passwd visudo newgrp sg setpriv chroot "
            "unshare nsenter capsh setenforce aa-disable"
        ),
        Effect.PRIVILEGES,
    ),
    **dict.fromkeys(
        _words(
            "apt apt-get aptitude dpkg dnf yum rpm apk pacman zypper brew port snap flatpak pip "
            "pip3 pipx uv poetry conda mamba npm npx yarn pnpm bun corepack cargo rustup gem bundle "
            "composer cpan cpanm luarocks nix nix-env nix-shell easy_install"
        ),
        Effect.PACKAGES,
    ),
    **dict.fromkeys(
        _words(
            "kill pkill killall skill fuser systemctl service rc-service launchctl docker podman"
        ),
        Effect.PROCESSES,
    ),
    **dict.fromkeys(
        _words(
            "ssh-keygen ssh-add ssh-copy-id gpg gh glab aws gcloud az kubectl vault pass htpasswd "
            "kinit login"
        ),
        Effect.CREDENTIALS,
    ),
    **dict.fromkeys(
        _words(
            "dropdb createdb dropuser createuser pg_restore mysqladmin mongorestore redis-server "
            "flyway liquibase alembic"
        ),
        Effect.DATABASE,
    ),
}

#: Programs that write the files which their arguments name.
WRITERS: Final = _words(
    "rm rmdir mv cp ln touch tee dd truncate install mkdir shred unlink rsync sed patch mkfifo mknod "
    "split unzip tar gzip gunzip xz bzip2 zip sponge ed ex"
)

#: Programs that run the command behind their own options.
WRAPPERS: Final = _words(
    "env nice nohup time timeout stdbuf setsid ionice chrt taskset xargs exec builtin busybox "
    "toybox watch flock script strace ltrace caffeinate command parallel"
)

#: Shells, which run what is behind ``-c``.
SHELLS: Final = _words("sh bash dash zsh ksh ash fish mksh rbash")

#: Interpreters, of whose code nothing can be told.
INTERPRETERS: Final = _words(
    "python python2 python3 pypy pypy3 perl ruby node nodejs deno php lua tclsh osascript awk gawk "
    "mawk nawk groovy julia r rscript powershell pwsh eval source . trap"
)

#: Clients of databases, which run the SQL in their arguments.
CLIENTS: Final = _words(
    "psql mysql mariadb sqlite3 sqlite mongo mongosh redis-cli sqlcmd sqlplus clickhouse-client "
    "cqlsh duckdb influx"
)

#: What git does that writes nothing.
GIT_READS: Final = _words(
    "status log diff show blame grep rev-parse rev-list ls-files ls-tree ls-remote cat-file describe "
    "shortlog name-rev merge-base for-each-ref show-ref show-branch count-objects fsck whatchanged "
    "annotate check-ignore check-attr var version help diff-tree diff-index diff-files range-diff "
    "cherry bugreport verify-commit verify-tag"
)

#: Options of git's that make what reads write, or run something.
GIT_OPTIONS: Final = (
    "--output",
    "--ext-diff",
    "--textconv",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--open-files-in-pager",
    "-o",
)

#: Words that begin what changes a database.
SQL_WRITES: Final = _words(
    "insert update delete drop alter create truncate replace grant revoke merge vacuum attach detach "
    "copy call do execute exec reindex rename import load lock set pragma comment cluster refresh "
    "upsert begin commit rollback savepoint flushall flushdb del hset lpush rpush dropdatabase "
    "deleteone deletemany insertone insertmany updateone updatemany"
)
