# SPDX-License-Identifier: MIT
"""python_parts.py MODE - a thread that stands still, in a process or an interpreter of some kind.

plain: the first thread. fork: that of a child; thread: of a child that a thread has forked.
pool: of a child of multiprocessing. become: sleeps for a while and ends.
sub, deep: in one sub-interpreter, or in two within each other.

Prints "PID TID NAME NAME …", the functions from the innermost out; then "ready". The end of
the standard input ends it.
"""
import multiprocessing
import os
import signal
import sys
import threading
import time

reading, writing = os.pipe()  # of which nobody ever reads a byte


def names(frame):
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back


def hold():
    told = [os.getpid(), threading.get_native_id()] + list(names(sys._getframe()))
    print(*told, flush=True)
    print('ready', flush=True)
    os.read(reading, 1)


def plain():
    hold()


def in_child():
    hold()
    os._exit(0)


def fork():
    if os.fork() == 0:
        in_child()


def thread():
    forking = threading.Thread(target=fork)
    forking.start()
    forking.join()


def pool():
    multiprocessing.set_start_method('fork')
    child = multiprocessing.Process(target=in_child, daemon=True)
    child.start()


def become():
    time.sleep(0.8)
    os._exit(0)


INSIDE = '''
import os
def inside():
    {}
inside()
'''
SLEEP = 'os.read({}, 1)'
NEST = '''
    import {0} as interpreters
    interpreters.{1}(interpreters.create(), """{2}""")
'''


def run_inside(code):
    try:
        import _interpreters
        _interpreters.exec(_interpreters.create(), code)
    except ImportError:
        import _xxsubinterpreters
        _xxsubinterpreters.run_string(_xxsubinterpreters.create(), code)


def tell_soon(told):
    """When the first thread sleeps, which it then does where it is meant to."""
    stat = '/proc/self/task/{}/stat'.format(os.getpid())
    seen = 0
    while seen < 20:
        time.sleep(0.02)
        with open(stat) as file:
            seen = seen + 1 if file.read().rsplit(')', 1)[1].split()[0] == 'S' else 0
    print(*told, flush=True)
    print('ready', flush=True)


def inside(code, inner):
    told = [os.getpid(), os.getpid()] + ['inside', '<module>'] * inner + ['run_inside']
    told += names(sys._getframe())
    threading.Thread(target=tell_soon, args=(told,), daemon=True).start()
    run_inside(code)


def sub():
    inside(INSIDE.format(SLEEP.format(reading)), 1)


def deep():
    call = ('_interpreters', 'exec') if sys.version_info >= (3, 13) else (
        '_xxsubinterpreters', 'run_string')
    inside(INSIDE.format(NEST.format(*call, INSIDE.format(SLEEP.format(reading)))), 2)


def end():
    """And of all that were forked. No lock of sys.stdin's may be held while that happens."""
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


def main():
    if sys.argv[1] != 'become':
        os.setpgid(0, 0)
        threading.Thread(target=end, daemon=True).start()
    globals()[sys.argv[1]]()
    time.sleep(3600)


if __name__ == '__main__':
    main()
