# shellcheck shell=bash
# Sourced by the scripts: strict mode, the root of the checkout, messages.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
export root

# Where the caller stood: relative paths of arguments are meant from there.
called_in="$PWD"
export called_in
cd "$root"

# Debian's Python, for which apt installs the modules used here; whichever python3 stands first on PATH may lack them.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
export python

# Bold on a terminal that can show it unless its user disables it (https://no-color.org).
say() {
    if [ -t 2 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
        printf '\033[1m==> %s\033[0m\n' "$*" >&2
    else
        printf '==> %s\n' "$*" >&2
    fi
}

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# The version of Swift that the package needs, which its manifest says.
swift_needed="$(sed -n '1s|^// swift-tools-version: *||p' Package.swift)"

# Stops with a clear message when there is no Swift of that version.
need_swift() {
    command -v swift >/dev/null ||
        fail "no 'swift' on PATH. Install Swift $swift_needed from https://www.swift.org/install/linux/"
    local version
    version="$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)"
    printf '%s\n' "$swift_needed" "${version:-0}" | sort --check=quiet --version-sort ||
        fail "Swift $swift_needed or later is needed, found '${version:-unknown}'"
}
