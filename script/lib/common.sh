# Sourced first by every script, as: . "$(dirname "$0")/lib/common.sh"
# Goes to the project's root, whatever folder the caller is in, and offers set_up.

set -eu
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
VENV=$ROOT/.venv
PY=$VENV/bin/python
cd "$ROOT"

say() {
    printf '%s\n' "$*"
}

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# Print the first Python that will do; PYTHON may name one.
find_python() {
    for name in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if is_new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
    found=$(python3 --version 2>/dev/null || true)
    fail "Roomwise needs Python 3.11 or newer; found ${found:-none}." \
        "Install one, or name it: PYTHON=/path/to/python3 $0"
}

is_set_up() {
    [ -x "$PY" ] && is_new_enough "$PY" && cmp -s "$1" "$VENV/$1"
}

# set_up FILE: a virtual environment in .venv that holds what FILE pins. A copy of the file is
# left in .venv, so the next call compares two files and needs no network. Two scripts that are
# started at once wait for each other: the lock is on the shell's open file, Python only takes it.
set_up() {
    if is_set_up "$1"; then
        return
    fi
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python cannot make virtual environments (on Debian: apt-get install python3-venv)."
    mkdir -p "$VENV" || fail "Cannot write in $ROOT."
    exec 8>>"$VENV/set-up.lock"
    "$python" -c 'import fcntl; fcntl.flock(8, fcntl.LOCK_EX)'
    if ! is_set_up "$1"; then
        say "Setting up .venv from $1 (once; takes a minute or two) ..."
        { make_venv "$python" && install "$1"; } || explain_set_up "$1"
    fi
    exec 8>&-
}

make_venv() {
    if [ -x "$PY" ] && is_new_enough "$PY" && "$PY" -m pip --version >/dev/null 2>&1; then
        return
    fi
    "$1" -m venv --clear "$VENV"
}

install() {
    "$PY" -m pip install --quiet --disable-pip-version-check --no-input -r "$1" || return
    if [ "$1" = requirements-dev.txt ]; then # holds all of requirements.txt
        cp requirements.txt "$VENV/requirements.txt" || return
    fi
    cp "$1" "$VENV/$1"
}

explain_set_up() {
    if [ "$(df -Pk "$ROOT" | awk 'NR == 2 { print $4 }')" -lt 51200 ]; then
        fail "The disk is full: $ROOT has no room for the Python packages. Make room and start again."
    fi
    fail "Could not install the Python packages of $1; the first start needs a package index (see above)."
}
