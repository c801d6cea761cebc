# SPDX-License-Identifier: MIT
"""python_shapes.py - threads that stand still in stacks of all the shapes that Python has.

Each ends in hold(), at a known line, in some wait. When all are there, what
sys._current_frames() says of each is printed, one line a thread and a frame a
field, innermost first; then "ready". The end of the standard input ends it.
"""
import functools
import os
import queue
import socket
import sys
import threading
import time

arrived = queue.Queue()
over = threading.Event()


def hold(how):
    arrived.put(None)
    how()


def recursion(depth, how):
    if depth == 0:
        hold(how)
    else:
        recursion(depth - 1, how)


def numbers(how):
    yield 1
    hold(how)
    yield 2


def delegating(how):
    yield from numbers(how)


def generator(how):
    for number in delegating(how):
        if number > 5:
            break


def comprehension(how):
    return [hold(how) for _ in range(1)]


def generator_expression(how):
    return sum(hold(how) or 0 for _ in range(1))


def sort_key(how):
    return sorted([2, 1], key=lambda value: hold(how) or value)


def reduce(how):
    def add(left, right):
        hold(how)
        return left + right

    return functools.reduce(add, [1, 2])


class Widget:
    def __init__(self, how):
        self.how = how
        self.build()

    def build(self):
        hold(self.how)

    def __getattr__(self, name):
        if name == 'missing':
            hold(self.how)
        raise AttributeError(name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        hold(self.how)

    @property
    def value(self):
        hold(self.how)
        return 1

    @classmethod
    def made(cls, how):
        hold(how)

    def __lt__(self, other):
        hold(self.how)
        return True


def constructor(how):
    Widget(how)


class Warm:
    def __init__(self, how):
        if how is not None:
            hold(how)


def warm_constructor(how):
    """Called so often that the interpreter has made a call of Python code of it."""
    for i in range(300):
        Warm(how if i == 299 else None)


def attribute(how):
    widget = Widget.__new__(Widget)
    widget.how = how
    return widget.missing


def context(how):
    widget = Widget.__new__(Widget)
    widget.how = how
    with widget:
        pass


def accessor(how):
    widget = Widget.__new__(Widget)
    widget.how = how
    return widget.value


def comparison(how):
    widget = Widget.__new__(Widget)
    widget.how = how
    return min(widget,
               widget)


def in_except(how):
    try:
        raise ValueError
    except ValueError:
        hold(how)
    finally:
        pass


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(
            *args,
            **kwargs
        )
    return wrapper


@decorated
def wrapped(how):
    hold(how)


@functools.lru_cache(maxsize=None)
def cached(how):
    hold(how)


def evaluated(how):
    eval('hold(how)', globals(), {'how': how})


def executed(how):
    exec('def f():\n  pass\n\n  hold(how)\nf()', dict(globals(), how=how))


def mapped(how):
    list(map(hold, [how]))


def partial(how):
    functools.partial(hold, how)()


def coroutine(how):
    async def inner():
        hold(how)

    async def outer():
        await inner()

    try:
        outer().send(None)
    except StopIteration:
        pass


def deep(how):
    """Deep enough that frames are in more than one chunk of memory."""
    recursion(400, how)


# How they wait: in a system call of libc's, in locks of the interpreter's, in extension modules.
near, far = socket.socketpair()
reading, writing = os.pipe()
never = threading.Lock()
never.acquire()

waits = [
    lambda: time.sleep(3600),
    lambda: never.acquire(),
    lambda: near.recv(1),
    lambda: os.read(reading, 1),
    over.wait,
]
shapes = [
    lambda how: recursion(7, how), generator, comprehension, generator_expression, sort_key, reduce,
    constructor, Widget.made, warm_constructor, attribute, context, accessor, comparison,
    in_except, wrapped, cached, evaluated, executed, mapped, partial, coroutine, deep,
]


def name_of(code):
    return getattr(code, 'co_qualname', code.co_name)


def fields(frame):
    while frame is not None:
        code = frame.f_code
        yield '{}@{}:{}'.format(name_of(code), os.path.basename(code.co_filename), frame.f_lineno)
        frame = frame.f_back


def tell(threads):
    frames = sys._current_frames()
    for thread in threads:
        print('\t'.join([str(thread.native_id)] + list(fields(frames[thread.ident]))))
    print('ready', flush=True)


def main():
    threads = []
    for i, shape in enumerate(shapes):
        thread = threading.Thread(target=shape, args=(waits[i % len(waits)],), daemon=True,
                                  name='shape{}'.format(i))
        threads.append(thread)
        thread.start()
    for _ in threads:
        arrived.get()
    # Who has arrived still has to begin its wait: it does when it has stood still for a while.
    before = None
    while True:
        now = [list(fields(sys._current_frames()[t.ident])) for t in threads]
        states = [open('/proc/self/task/%d/stat' % t.native_id).read().rsplit(')', 1)[1].split()[0]
                  for t in threads]
        if now == before and all(state == 'S' for state in states):
            break
        before = now
        time.sleep(0.05)
    tell(threads)
    sys.stdin.read()
    os._exit(0)


main()
