#!/usr/bin/python3
"""Runs the command of an unpacked image as an engine for containers would: in its root, as its user, without any capability.

    run_in_image.py BUNDLE [--entrypoint PATH] [--without-io-uring] [ARGUMENT]...

BUNDLE is what "umoci unpack" made. Namespaces and mounts are the caller's. --without-io-uring applies those rules of Docker's
default filter of system calls that matter here: io_uring fails with EPERM, and clone3 with ENOSYS.
"""

import ctypes
import errno
import json
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
FORBIDDEN = {"io_uring_setup": errno.EPERM, "io_uring_enter": errno.EPERM, "io_uring_register": errno.EPERM, "clone3": errno.ENOSYS}
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000

libc = ctypes.CDLL(None, use_errno=True)


def prctl(option, value):
    if libc.prctl(option, value, 0, 0, 0) != 0:
        sys.exit(f"prctl({option}, {value}): {os.strerror(ctypes.get_errno())}")


def made_filter(seccomp):
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
    seccomp.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
    seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
    context = seccomp.seccomp_init(ALLOW)
    for name, code in FORBIDDEN.items():
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if seccomp.seccomp_rule_add_array(context, FAIL_WITH | code, number, 0, None) != 0:
            sys.exit(f"seccomp: no rule for {name}")
    return context


def drop_rights(user, last_capability):
    for capability in range(last_capability + 1):
        prctl(PR_CAPBSET_DROP, capability)
    os.setgroups(user.get("additionalGids", []))
    os.setresgid(*[user["gid"]] * 3)
    os.setresuid(*[user["uid"]] * 3)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    # Another user is another parent to the kernel, so that this is asked for again.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main():
    bundle, options, entrypoint, ring = sys.argv[1], sys.argv[2:], None, True
    while options and options[0] in ("--entrypoint", "--without-io-uring"):
        if options.pop(0) == "--entrypoint":
            entrypoint = options.pop(0)
        else:
            ring = False
    with open(os.path.join(bundle, "config.json"), encoding="utf-8") as file:
        process = json.load(file)["process"]
    with open("/proc/sys/kernel/cap_last_cap", encoding="utf-8") as file:
        last_capability = int(file.read())
    command = [*([entrypoint] if entrypoint else process["args"]), *options]
    # Loaded before the root changes.
    seccomp = None if ring else ctypes.CDLL("libseccomp.so.2")
    os.chroot(os.path.join(bundle, "rootfs"))
    os.chdir(process["cwd"])
    drop_rights(process["user"], last_capability)
    if seccomp:
        status = seccomp.seccomp_load(made_filter(seccomp))
        if status != 0:
            sys.exit(f"seccomp_load: {os.strerror(-status)}")
    environment = dict(entry.split("=", 1) for entry in process["env"])
    os.execve(command[0], command, environment)


main()
