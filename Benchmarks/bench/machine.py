"""What the figures were measured on."""

import os
import platform
import re

import peers


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*:\s*(.*)", file.read())
    return found.group(1) if found else platform.machine()


def description():
    """Columns of every line of results."""
    return {
        **peers.facts_of_run(), "processor": processor(), "cores": os.cpu_count(), "openssl": peers.version("openssl", "version"),
        "nghttp2": peers.version("pkg-config", "--modversion", "libnghttp2"),
        "liburing": peers.version("pkg-config", "--modversion", "liburing"),
        "nginx": peers.version("nginx", "-v"), "h2load": peers.version("h2load", "--version"),
        "swift": peers.version("swift", "--version"),
    }
