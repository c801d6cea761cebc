# SPDX-License-Identifier: MIT
"""python_starts.py MODE - threads that start, sleep below nap() for a moment, and end.

one: the main thread starts one after the other and joins each. server: a ThreadingHTTPServer with
six clients. All other threads of the program wait in calls other than sleep.

Prints "ready", and ends at the end of the standard input.
"""
import http.server
import socket
import sys
import threading
import time

over = threading.Event()


def nap():
    time.sleep(0.06)


def start_and_join():
    while not over.is_set():
        thread = threading.Thread(target=nap)
        thread.start()
        thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        nap()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


def request(address):
    while not over.is_set():
        with socket.create_connection(address) as connection:
            connection.sendall(b'GET / HTTP/1.0\r\n\r\n')
            while connection.recv(4096):
                pass


def serve():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    clients = [threading.Thread(target=request, args=(server.server_address,)) for _ in range(6)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()


def wait():
    sys.stdin.read()
    over.set()


threading.Thread(target=wait, daemon=True).start()
print('ready', flush=True)
if sys.argv[1] == 'one':
    start_and_join()
else:
    serve()
