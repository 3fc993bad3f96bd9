# shellcheck shell=bash
# Sourced by scripts/check-package, scripts/check-wheel and scripts/image: a bare Debian 12, and commands that run inside it. They need root.

suite=bookworm
bare_root="$root/.build-package/root.tar"

# take_suite SUITE: another Debian, such as trixie, whose root is kept beside that of Debian 12.
take_suite() {
    suite="$1"
    bare_root="$root/.build-package/root.tar"
    [ "$suite" = bookworm ] || bare_root="$root/.build-package/root-$suite.tar"
}

# make_bare_root: makes $bare_root unless it is there. It needs $work, a folder that its caller removes.
make_bare_root() {
    [ ! -f "$bare_root" ] || return 0
    say "making a bare Debian, $suite"
    local mirror="${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
    local security="${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}"
    debootstrap --variant=minbase "$suite" "$work/bare" "$mirror" >"$work/log" 2>&1 || fail "debootstrap: $(tail -n 20 "$work/log")"
    # Without updates, what is installed later would be that of the day of Debian's release.
    printf 'deb %s %s main\ndeb %s %s-updates main\ndeb %s %s-security main\n' \
        "$mirror" "$suite" "$mirror" "$suite" "$security" "$suite" >"$work/bare/etc/apt/sources.list"
    mkdir -p "$(dirname "$bare_root")"
    tar --directory "$work/bare" --one-file-system --create --file "$bare_root.part" .
    mv "$bare_root.part" "$bare_root"
    rm -rf --one-file-system "$work/bare"
}

# unpack_bare_root FOLDER
unpack_bare_root() {
    mkdir -p "$1"
    tar --directory "$1" --extract --numeric-owner --file "$bare_root"
    cp --dereference /etc/resolv.conf "$1/etc/resolv.conf"
}

# in_root FOLDER COMMAND ARGUMENT...: its mounts and processes are in namespaces of their own, and end with it.
in_root() {
    # shellcheck disable=SC2016  # the inner shell expands these
    unshare --mount --pid --ipc --fork --kill-child bash -euc '
        mount -t proc proc "$1/proc"
        folder="$1"
        shift
        exec chroot "$folder" /usr/bin/env --ignore-environment HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            ${SOURCE_DATE_EPOCH:+SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH"} "$@"
    ' in-root "$@"
}
