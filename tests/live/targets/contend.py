# SPDX-License-Identifier: MIT
"""contend.py - four threads that compute in Python: one at a time can."""
import threading


def parse_rows():
    total = 0
    while True:
        for number in range(1000):
            total += number * number


for _ in range(4):
    threading.Thread(target=parse_rows, daemon=True).start()
print('ready', flush=True)
threading.Event().wait()
