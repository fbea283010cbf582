#!/usr/bin/env python3
"""How long a line of chat takes while a thousand wrong passwords a second come in.

    Benchmarks/logins.py BINARY [SECONDS]

Starts the server on a free port with a fresh database, lets one client talk to another without and then with the
attack, and prints the median, the 99th percentile and the longest of the times from sending to receiving. The attack
comes from a thousand addresses of 127.0.0.0/8, a new account's name each time, so that no throttle answers for the
hasher. Compare the two lines of one run: the machine decides the rest.
"""

import base64
import multiprocessing
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time

ATTACKERS = 1000
PAUSE = 0.005


def start(binary, directory):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = os.path.join(directory, "parley.toml")
    with open(path, "w") as file:
        file.write(f'[store]\npath = "{directory}/data/parley.db"\n[flood]\nenabled = false\n')
        file.write(f'[[listen]]\naddress = "127.0.0.1"\nport = {port}\nmode = "plain"\n')
    log = open(os.path.join(directory, "log"), "w")
    server = subprocess.Popen([binary, "serve", "--config", path], stderr=log)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not start")


class Client:
    def __init__(self, port, nick):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.say(f"NICK {nick}", f"USER {nick} 0 * :{nick}", "JOIN #bench")
        self.await_line(b" 366 ")

    def say(self, *lines):
        self.socket.sendall("".join(line + "\r\n" for line in lines).encode())

    def await_line(self, needle):
        for line in self.file:
            if needle in line:
                return
        raise SystemExit("the connection ended")


def chat(speaker, listener, seconds):
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = f"line {len(times)}."
        begun = time.perf_counter()
        speaker.say(f"PRIVMSG #bench :{text}")
        listener.await_line(text.encode())
        times.append(time.perf_counter() - begun)
        time.sleep(PAUSE)
    return sorted(times)


def attack(port, seconds, answers):
    """A thousand connections, each with an attempt a second."""
    selector = selectors.DefaultSelector()
    connections = []
    for i in range(ATTACKERS):
        connection = socket.socket()
        connection.bind((f"127.{1 + i // 250}.0.{1 + i % 250}", 0))
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"CAP LS 302\r\n")
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ)
        connections.append(connection)
    sent = refused = busy = 0
    begun = time.monotonic()
    while (now := time.monotonic() - begun) < seconds:
        while sent < now * ATTACKERS:
            name = f"nobody{sent}"
            blob = base64.b64encode(f"\0{name}\0wrong-horse".encode()).decode()
            connections[sent % ATTACKERS].send(f"AUTHENTICATE PLAIN\r\nAUTHENTICATE {blob}\r\n".encode())
            sent += 1
        for key, _ in selector.select(0.002):
            data = key.fileobj.recv(65536)
            refused += data.count(b" 904 ")
            busy += data.count(b"The server is busy")
    answers.put((sent, refused, busy))


def show(what, times):
    def at(share):
        return times[min(len(times) - 1, int(len(times) * share))] * 1000

    print(f"{what}: median {at(0.5):.2f} ms, 99 % {at(0.99):.2f} ms, longest {times[-1] * 1000:.2f} ms", flush=True)


def main():
    binary = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory(prefix="parley-logins-") as directory:
        server, port = start(binary, directory)
        try:
            speaker, listener = Client(port, "ana"), Client(port, "bo")
            chat(speaker, listener, 1)
            show("in peace", chat(speaker, listener, seconds))
            answers = multiprocessing.Queue()
            attacker = multiprocessing.Process(target=attack, args=(port, seconds + 2, answers))
            attacker.start()
            time.sleep(1.5)
            show("under attack", chat(speaker, listener, seconds))
            sent, refused, busy = answers.get()
            attacker.join()
            print(f"{sent} attempts, {refused} answered, of these {busy} because the hasher had too much to do")
        finally:
            server.terminate()
            server.wait()


main()
