# shellcheck shell=bash
# What the verbs of ci/ share. Sourced with the checkout as the working folder.
#
# Everything that a verb makes lies in the checkout: .venv, .agents, .engine, .build.
# The user's home is never written: each tool that would keep a cache there is told to
# keep it in .build/cache. Files are made readable for every user, because a sandbox
# runs under a uid of its own.
umask 022
export PIP_CACHE_DIR="$PWD/.build/cache/pip" UV_CACHE_DIR="$PWD/.build/cache/uv"
export npm_config_cache="$PWD/.build/cache/npm" npm_config_logs_max=0
export npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false
export RUSTUP_HOME="$PWD/.build/cache/rustup" # pip asks rustc for its version
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_USER=0 PYTHONNOUSERSITE=1
verb=$(basename "$0")

say() { printf '%s: %s\n' "$verb" "$*"; }
warn() { printf '%s: %s\n' "$verb" "$*" >&2; }
die() {
  warn "$1"
  exit "${2:-1}"
}
as_root() { [ "$(id -u)" = 0 ]; }
have() { command -v "$1" >/dev/null 2>&1; }
digest() { cat -- "$@" | sha256sum | cut -d' ' -f1; }

# is_done FILE KEY: whether FILE, left by an earlier set-up, speaks of KEY.
is_done() { [ -r "$1" ] && [ "$(<"$1")" = "$2" ]; }

# debian PACKAGE...: install them as root on Debian or Ubuntu, else say how to.
debian() {
  local remedy="apt-get install --no-install-recommends $*"
  if ! have apt-get; then
    warn "missing: $* (Debian's names); install what your system calls them"
    return 1
  elif ! as_root; then
    warn "missing: $*; run as root: $remedy"
    return 1
  fi
  say "installing $* from Debian's packages"
  if ! apt_install "$@" && ! { apt-get -qq update && apt_install "$@"; }; then
    warn "could not be installed: $*; try: apt-get update && $remedy"
    tail -n 5 .build/apt.log >&2
    return 1
  fi
}

apt_install() {
  mkdir -p .build
  DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
    install --no-install-recommends "$@" </dev/null >.build/apt.log 2>&1
}
