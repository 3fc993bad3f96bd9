"""Runs a command with the filters of system calls that a unit of systemd asks for, as systemd would apply them. Needs no root.

    service_filter.py UNIT [--also FILTER]... -- COMMAND ARGUMENT...

FILTER is a further value of SystemCallFilter. Of the unit it applies SystemCallFilter, MemoryDenyWriteExecute and
RestrictAddressFamilies; a call that is forbidden fails with EPERM, as SystemCallErrorNumber=EPERM says.
"""

import ctypes
import errno
import os
import socket
import subprocess
import sys

seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
seccomp.seccomp_init.restype = ctypes.c_void_p
seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
seccomp.seccomp_load.argtypes = [ctypes.c_void_p]


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operation", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


seccomp.seccomp_rule_add_array.argtypes = [
    ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Comparison)]

ALLOW = 0x7FFF0000
# Operations of comparisons.
EQUAL, MASKED_EQUAL = 4, 7


def fails_with(code):
    return 0x00050000 | code


def number(name):
    """The number of a system call on this machine; negative for one that it does not have."""
    return seccomp.seccomp_syscall_resolve_name(name.encode())


def add(context, action, name, *comparisons):
    found = number(name)
    if found < 0:
        return
    array = (Comparison * max(1, len(comparisons)))(*comparisons)
    status = seccomp.seccomp_rule_add_array(context, action, found, len(comparisons), array)
    if status != 0:
        sys.exit(f"{name}: {os.strerror(-status)}")


def load(context):
    status = seccomp.seccomp_load(context)
    if status != 0:
        sys.exit(f"seccomp_load: {os.strerror(-status)}")


def expanded(names):
    """The system calls of a list of names and sets."""
    calls = set()
    for name in names:
        if not name.startswith("@"):
            calls.add(name)
            continue
        listed = subprocess.run(
            ["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True).stdout
        lines = [line.strip() for line in listed.splitlines()[1:]]
        calls |= expanded(line for line in lines if line and not line.startswith("#"))
    return calls


def allowed(filters):
    calls = expanded(["@default"])
    for value in filters:
        if value.startswith("~"):
            calls -= expanded(value[1:].split())
        else:
            calls |= expanded(value.split())
    return calls


def settings(unit):
    with open(unit, encoding="utf-8") as file:
        pairs = [line.strip().split("=", 1) for line in file if "=" in line and not line.startswith("#")]
    return [(key, value) for key, value in pairs]


def main():
    place = sys.argv.index("--")
    unit, options, command = sys.argv[1], sys.argv[2:place], sys.argv[place + 1 :]
    given = settings(unit)
    filters = [value for key, value in given if key == "SystemCallFilter"] + options[1::2]
    families = [value.split() for key, value in given if key == "RestrictAddressFamilies"][0]
    assert ("MemoryDenyWriteExecute", "yes") in given and ("SystemCallErrorNumber", "EPERM") in given

    single = seccomp.seccomp_init(ALLOW)
    write_and_execute = Comparison(2, MASKED_EQUAL, 6, 6)
    execute = Comparison(2, MASKED_EQUAL, 4, 4)
    add(single, fails_with(errno.EPERM), "mmap", write_and_execute)
    add(single, fails_with(errno.EPERM), "mprotect", execute)
    add(single, fails_with(errno.EPERM), "pkey_mprotect", execute)
    known = {int(getattr(socket, family)) for family in families}
    for family in set(range(64)) - known:
        add(single, fails_with(errno.EAFNOSUPPORT), "socket", Comparison(0, EQUAL, family, 0))
    whole = seccomp.seccomp_init(fails_with(errno.EPERM))
    for name in sorted(allowed(filters)):
        add(whole, ALLOW, name)
    load(single)
    load(whole)
    os.execvp(command[0], command)


main()
