#!/usr/bin/python3
"""Runs a command on a terminal of its own and prints all that the terminal was sent, byte for byte.

    on_terminal.py COLUMNS COMMAND ARGUMENT...

Once progress of a run is shown, it is paused by SIGUSR1, and by another one it continues, on a terminal with a bar when
that says so: both write a message. The exit code is the command's.
"""

import fcntl
import os
import pty
import signal
import struct
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(command[0], command)
shown, signals = b"", 0
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:  # Linux: the other side was closed
        break
    if not part:
        break
    shown += part
    is_paused = b"paused; send it again" in shown and (b"\x1b" not in shown or b" rows, paused" in shown)
    if "send" in command and signals == 0 and b" rows, " in shown or signals == 1 and is_paused:
        os.kill(child, signal.SIGUSR1)
        signals += 1
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.stdout.buffer.write(shown)
sys.exit(code)
