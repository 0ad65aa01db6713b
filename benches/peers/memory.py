"""Resident memory of processes, in bytes."""

import resource
import sys
from pathlib import Path


def peak_bytes():
    """The most this process has held.

    On Linux not `ru_maxrss`: that keeps the peak of the process that started this one across the
    exec, so that a large parent would be counted as the child's.
    """
    peak = status_field("self", "VmHWM")
    if peak is not None:
        return peak
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def held_bytes(pid):
    """What another process holds now, or None where that cannot be read."""
    return status_field(pid, "VmRSS")


def peak_bytes_of(pid):
    return status_field(pid, "VmHWM")


def status_field(pid, name):
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return None
