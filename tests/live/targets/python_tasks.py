# SPDX-License-Identifier: MIT
"""python_tasks.py - tasks of asyncio in all places that they can be in.

Each that stays where it is has a line: its name, the thread, its state, who awaits it, and a field
for each frame, innermost first. One goes from one place to another as fast as it can, and its line
has the frames that there can be inside of which line. Then "ready"; the end of the standard input
ends it.
"""
import asyncio
import gc
import os
import sys
import threading

HOUR = 3600


async def leaf():
    await asyncio.sleep(HOUR)


async def outer():
    await leaf()


async def nested(depth):
    if depth == 0:
        await leaf()
    else:
        await nested(depth - 1)


async def gathers():
    await asyncio.gather(outer(), outer(), leaf())


async def shields():
    await asyncio.shield(leaf())


async def waits():
    await asyncio.wait([asyncio.ensure_future(leaf()) for _ in range(2)])


async def awaits(task):
    await task


async def queue_get(queue):
    while True:
        await queue.get()


async def takes(lock):
    async with lock:
        await leaf()


async def reads(stream):
    await stream.readline()


async def numbers():
    yield 1
    await asyncio.sleep(HOUR)
    yield 2


async def iterates():
    async for _ in numbers():
        pass


class Awaitable:
    def __await__(self):
        return (yield from leaf().__await__())


async def custom():
    await Awaitable()


class Manager:
    async def __aenter__(self):
        await leaf()

    async def __aexit__(self, *_):
        pass


async def enters():
    async with Manager():
        pass


async def groups():
    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(outer(), name='in group {}'.format(number))


def work():
    total = 0
    for number in range(300):
        total += number
    return total


async def left():
    work()


async def right():
    return work()


async def either(ends):
    while not ends:
        await left()
        await right()
        await asyncio.sleep(0)


async def unborn():
    await leaf()


def block(end):
    end.acquire()


async def blocks(end):
    keep = [asyncio.create_task(unborn(), name='unborn'),
            asyncio.create_task(unborn(), name='unborn too')]
    block(end)
    return keep


def inside(awaitable):
    """The coroutine or generator that it is or has inside; None: neither."""
    for _ in range(8):
        for kind in ('cr', 'gi', 'ag'):
            if hasattr(awaitable, kind + '_frame'):
                return kind, awaitable
        inner = [it for it in gc.get_referents(awaitable)
                 if any(hasattr(it, kind + '_frame') for kind in ('cr', 'gi', 'ag'))]
        if type(awaitable).__module__ != 'builtins' or not inner:
            return None
        awaitable = inner[0]


def fields(coroutine):
    """Outermost first."""
    at = inside(coroutine)
    while at is not None:
        kind, it = at
        code, frame = getattr(it, kind + '_code'), getattr(it, kind + '_frame')
        if frame is None:
            return
        yield '{}@{}:{}'.format(code.co_qualname, code.co_filename, frame.f_lineno)
        awaited = getattr(it, {'cr': 'cr_await', 'gi': 'gi_yieldfrom', 'ag': 'ag_await'}[kind])
        at = inside(awaited) if awaited is not None else None


def tell(task, state='waiting', more=()):
    by = sorted(it.get_name() for it in getattr(task, '_asyncio_awaited_by', None) or ())
    frames = list(more) + list(fields(task.get_coro()))[::-1]
    print('\t'.join([task.get_name(), str(threading.get_native_id()), state, ';'.join(by)] +
                    frames))


def line_of(function, text):
    with open(__file__) as source:
        lines = source.read().split('\n')
    first = function.__code__.co_firstlineno
    return next(number for number, line in enumerate(lines[first - 1:], first) if text in line)


def tell_either(task):
    lines = ['{}>{}'.format(inner, line_of(either, 'await ' + text))
             for inner, text in (('left', 'left'), ('right', 'right'), ('sleep', 'asyncio'))]
    print('\t'.join([task.get_name(), str(threading.get_native_id()), 'moves', 'main'] + lines))


async def main(ends):
    asyncio.current_task().set_name('main')
    queue, lock, stream = asyncio.Queue(), asyncio.Lock(), asyncio.StreamReader()
    coroutines = {
        'outer': outer(), 'nested': nested(100), 'gathers': gathers(), 'shields': shields(),
        'waits': waits(), 'gets 1': queue_get(queue), 'gets 2': queue_get(queue),
        'takes': takes(lock), 'waits for lock': takes(lock), 'näme 名前 🐍': leaf(), '': leaf(),
        'reads': reads(stream), 'iterates': iterates(), 'custom': custom(), 'enters': enters(),
        'groups': groups(),
    }
    tasks = [asyncio.create_task(it, name=name) for name, it in coroutines.items()]
    tasks += [asyncio.create_task(awaits(tasks[0]), name='awaits outer {}'.format(number))
              for number in range(20)]
    await asyncio.sleep(0.01)
    # Those that others have made come to their places, too.
    while any(it.get_coro().cr_await is None for it in asyncio.all_tasks() if
              it is not asyncio.current_task()):
        await asyncio.sleep(0.01)
    moving = asyncio.create_task(either(ends), name='either')
    for task in asyncio.all_tasks():
        if task is not asyncio.current_task() and task is not moving:
            tell(task)
    tell_either(moving)
    print('ready', flush=True)
    await moving
    os._exit(0)


def other(end):
    async def run():
        await blocks(end)

    asyncio.run(run())


def tell_other(thread):
    """The other thread stands still, and no task of its own can ask it."""
    frame = None
    while frame is None or frame.f_code is not block.__code__:
        frame = sys._current_frames().get(thread.ident)
    for name in ('unborn', 'unborn too'):
        print('\t'.join([name, str(thread.native_id), 'not started', '',
                         'unborn@{}:{}'.format(__file__, unborn.__code__.co_firstlineno)]))
    frames = []
    while frame.f_code.co_name != '_run':
        frames.append('{}@{}:{}'.format(frame.f_code.co_qualname, __file__, frame.f_lineno))
        frame = frame.f_back
    print('\t'.join(['Task-1', str(thread.native_id), 'running', ''] + frames))


def begin():
    end, ends = threading.Lock(), []
    end.acquire()
    thread = threading.Thread(target=other, args=(end,), daemon=True)
    thread.start()
    tell_other(thread)
    threading.Thread(target=lambda: (sys.stdin.read(), ends.append(True)), daemon=True).start()
    asyncio.run(main(ends))


begin()
