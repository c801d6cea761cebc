# SPDX-License-Identifier: MIT
"""python_deadlock.py - a deadlock through the interpreter's lock.

The thread of keeper() has a mutex of the C library's and wants to run Python
code; that of taker() has the interpreter's lock and waits for the mutex. Says
the ids of the latter and of the former and the address of the mutex, then
"ready" and takes it.
"""
import ctypes
import threading

without_lock = ctypes.CDLL(None)
with_lock = ctypes.PyDLL(None)
mutex = ctypes.create_string_buffer(64)
locked = threading.Event()
keepers_id = 0


def keeper():
    global keepers_id
    keepers_id = threading.get_native_id()
    without_lock.pthread_mutex_lock(mutex)
    locked.set()
    while True:
        pass


def taker():
    locked.wait()
    print(threading.get_native_id(), keepers_id, hex(ctypes.addressof(mutex)))
    print('ready', flush=True)
    with_lock.pthread_mutex_lock(mutex)


for function in (keeper, taker):
    threading.Thread(target=function, daemon=True).start()
threading.Event().wait()
