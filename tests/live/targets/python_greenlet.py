# SPDX-License-Identifier: MIT
# Greenlets that are switched all the time, in a program for python_greenlet.sh. The first argument
# is the library: "greenlet" or "gevent". All CPU time but that of switches is used by burn(), which
# is called by inner(), which is called by outer(), the function of a greenlet.
#
# Ends with its input. Prints "none" if there is no such library.
import select
import sys

watch = select.poll()
watch.register(0, select.POLLIN | select.POLLHUP)


def burn():
    total = 0
    for number in range(100000):
        total += number
    return total


def inner(switch):
    burn()
    switch()


def outer(switch):
    while not watch.poll(0):
        inner(switch)


def run_greenlets():
    main = greenlet.getcurrent()
    pool = [greenlet.greenlet(outer) for _ in range(30)]
    print("ready", flush=True)
    while pool:
        for one in pool:
            one.switch(main.switch)
        pool = [one for one in pool if not one.dead]


def run_gevent():
    pool = [gevent.spawn(outer, lambda: gevent.sleep(0)) for _ in range(30)]
    print("ready", flush=True)
    gevent.joinall(pool)


try:
    if sys.argv[1] == "gevent":
        import gevent
    else:
        import greenlet
except ImportError:
    print("none", flush=True)
    print("ready", flush=True)
else:
    run_gevent() if sys.argv[1] == "gevent" else run_greenlets()
