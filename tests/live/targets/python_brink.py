# SPDX-License-Identifier: MIT
# A busy thread whose outermost frame says that it was called by one in memory that has no pages,
# and that nobody but this very thread could give it one: userfaultfd(2). With the argument "list"
# it is the thread that leads there, as to the next of the interpreter's threads.
#
# Ends with its input, and says "turns COUNT" then.
import ctypes
import fcntl
import platform
import select
import struct
import sys

RANGE = 1 << 20
SYS_USERFAULTFD = {"x86_64": 323, "aarch64": 282}
# Of _PyInterpreterFrame since 3.11, else of PyFrameObject.
PREVIOUS = 24 if sys.version_info < (3, 11) else 48 if sys.version_info < (3, 12) else 8

NEXT = 8  # in PyThreadState

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]


def make_range():
    address = libc.mmap(None, RANGE, 3, 0x22, -1, 0)
    faults = libc.syscall(SYS_USERFAULTFD[platform.machine()], 0o2000000 | 0o4000)
    if faults < 0:
        return None
    try:
        fcntl.ioctl(faults, 0xC018AA3F, struct.pack("QQQ", 0xAA, 0, 0))
        fcntl.ioctl(faults, 0xC020AA00, struct.pack("QQQQ", address, RANGE, 1, 0))
    except OSError:
        return None
    return address


def outermost():
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return id(frame)


def place_of_caller():
    at = outermost()
    if sys.version_info >= (3, 11):
        at = ctypes.c_uint64.from_address(at + 24).value
    return at + PREVIOUS


def place_of_next():
    current = ctypes.pythonapi.PyThreadState_Get
    current.restype = ctypes.c_void_p
    return current() + NEXT


def leaf():
    # Not select.select(): its stack frame has 48 KiB, more than is copied of a running thread at
    # first. A sample in that call had a truncated stack, by chance.
    watch = select.poll()
    watch.register(0, select.POLLIN | select.POLLHUP)
    turns = 0
    while not watch.poll(0):
        for _ in range(100000):
            turns += 1
    return turns


def main():
    address = make_range()
    if address is None:
        print("none", flush=True)
        print("ready", flush=True)
        return
    place = ctypes.c_uint64.from_address(
        place_of_next() if sys.argv[1:] == ["list"] else place_of_caller())
    before = place.value
    place.value = address + 64
    print("ready", flush=True)
    turns = leaf()
    place.value = before
    print("turns", turns, flush=True)


main()
