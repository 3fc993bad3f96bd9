"""What the tag of the wheel is computed from."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from types import ModuleType

from conftest import ROOT, binary

SCRIPT = ROOT / "scripts" / "lib" / "wheel_systems.py"


def systems() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wheel_systems", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_symbol_that_is_too_new_is_named() -> None:
    symbols = [
        ("GLIBC", (2, 34), "pthread_create"),
        ("GLIBC", (2, 4), "memcpy"),
        ("GLIBC", (2, 35), "epoll_pwait2"),
        ("OPENSSL", (3, 0, 0), "SSL_new"),
        ("OPENSSL", (3, 2, 0), "SSL_newer"),
        ("LIBURING", (2, 3), "io_uring_enter2"),
    ]
    assert list(systems().breaches({"libc.so.6", "liburing.so.2"}, symbols)) == [
        "liburing.so.2 is needed, which not every system of the tag has",
        "epoll_pwait2 needs GLIBC_2.35, newer than GLIBC_2.34",
        "io_uring_enter2 needs LIBURING, of which no version is allowed",
        "SSL_newer needs OPENSSL_3.2.0, newer than OPENSSL_3.0.0",
    ]


def test_the_tag_is_that_of_the_newest_glibc_that_is_needed() -> None:
    symbols = [("GLIBC", (2, 4), "a"), ("GLIBC", (2, 17), "b"), ("GLIBC", (2, 9), "c"), ("GCC", (3, 0), "d")]
    assert systems().tag_of(symbols).startswith("manylinux_2_17_")


def test_the_needs_of_a_program_are_read() -> None:
    """The command of the tests has the Swift runtime as a library of its own, which no system has."""
    done = subprocess.run([sys.executable, SCRIPT, binary()], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "libswiftCore.so is needed" in done.stderr
    assert not re.search(r"epoll_pwait2|GLIBC_2\.3[6-9]", done.stderr)


def test_the_page_says_the_same() -> None:
    page = (ROOT / "docs" / "integrate" / "spark" / "wheel.md").read_text()
    allowed = systems()
    for library, versions in (("glibc", "GLIBC"), ("OpenSSL", "OPENSSL")):
        version = ".".join(map(str, allowed.NEWEST[versions][:2]))
        assert re.search(rf"^\| {library} .*\| {re.escape(version)} \|", page, re.MULTILINE), library
    for name in re.findall(r"`(lib\w+\.so\.\d+)`", page):
        assert name in allowed.LIBRARIES
