#!/usr/bin/python3
"""Runs a command on a terminal of its own, and types a passphrase when it asks for one.

    type_passphrase.py PASSPHRASE COMMAND ARGUMENT...

Prints what the terminal showed; the command's exit code is its own. Exits with 99 when the terminal showed the passphrase.
"""

import os
import pty
import sys

passphrase, command = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execv(command[0], command)
shown, typed = b"", False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:  # Linux: the other side was closed
        break
    if not part:
        break
    shown += part
    if not typed and b"Passphrase of " in shown and shown.endswith(b": "):
        os.write(terminal, passphrase.encode() + b"\n")
        typed = True
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(shown.decode(errors="replace"))
sys.exit(99 if passphrase.encode() in shown else code)
