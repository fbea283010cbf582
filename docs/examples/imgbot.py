#!/usr/bin/env python3
"""Sends and fetches pictures as a bot does; nothing but the standard library is needed.

    imgbot.py HOST PORT send TARGET FILE [CAPTION]     prints the picture's id
    imgbot.py HOST PORT get CHANNEL ID FILE

A lost connection does no harm: the identity comes back with its token, READY says from where the upload goes on, the
reference makes a second message impossible, and a file that was fetched in part is fetched to its end. The token is
kept in the file that IMGBOT_TOKEN names. IMGBOT_DROP=N loses the connection on purpose after N bytes, once.
"""
import base64
import hashlib
import os
import socket
import sys

TYPES = {"jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"}
CHUNK = 4500


class Refused(Exception):
    pass


class Session:
    """A connection that is somebody."""

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), timeout=30)
        self.lines = self.socket.makefile("rb")
        place = os.environ.get("IMGBOT_TOKEN", "")
        if place and os.path.exists(place):
            self.send("PASS guest:" + open(place).read())
        self.send("CAP REQ :batch server-time", f"NICK imgbot{os.getpid()}", "USER imgbot 0 * :A bot", "CAP END")
        self.wait("376", "422")
        self.send("IDENTITY TOKEN")
        token = self.wait("NOTE")[3]
        if place:
            with open(place, "w") as file:
                file.write(token)

    def send(self, *lines):
        self.socket.sendall("".join(line + "\r\n" for line in lines).encode())

    def next(self):
        """Command and parameters of the next line."""
        while True:
            line = self.lines.readline()
            if not line:
                raise ConnectionError("the server closed")
            words = line.decode().rstrip("\r\n").split(" ")
            while words and words[0][:1] in ("@", ":"):
                words.pop(0)
            if words[0] == "PING":
                self.send("PONG " + words[1])
            else:
                return words

    def wait(self, *commands):
        """The next line with one of these commands, `IMG READY` or `376`; a refusal raises."""
        while True:
            words = self.next()
            if words[0] == "FAIL" or words[0] in ("471", "473", "474", "475"):
                raise Refused(" ".join(words))
            if words[0] in commands or " ".join(words[:2]) in commands:
                return words

    def join(self, channel):
        # Who came back may be there already; then a JOIN is answered by nothing.
        self.send("JOIN " + channel, "PING joined")
        self.wait("PONG")

    def lose(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Bot:
    def __init__(self, host, port):
        self.address = (host, port)
        self.drop = int(os.environ.get("IMGBOT_DROP", "0"))

    def persist(self, work):
        """Again after a lost connection, a few times."""
        for attempt in range(5):
            try:
                return work(Session(*self.address))
            except OSError as error:
                print(f"lost: {error}", file=sys.stderr)
        raise SystemExit("the server cannot be reached")

    def spend(self, session, count):
        if self.drop:
            self.drop -= min(self.drop, count)
            if not self.drop:
                session.lose()

    def upload(self, session, target, name, data, caption):
        if target.startswith("#"):
            session.join(target)
        digest = hashlib.sha256(data).hexdigest()
        kind = TYPES[name.rsplit(".", 1)[-1].lower()]
        # The same picture for the same place is the same message.
        ref = hashlib.sha256(f"{target} {digest}".encode()).hexdigest()[:32]
        word = os.path.basename(name).replace("\\", "\\\\").replace(";", "\\:").replace(" ", "\\s")
        session.send(f"IMG BEGIN {target} {kind} {len(data)} name={word};sha256={digest};ref={ref} :{caption}")
        answer = session.wait("IMG READY", "IMG DONE")
        if answer[1] == "READY":
            image, at, window = answer[2], int(answer[3]), int(answer[5])
            acknowledged = at
            while at < len(data):
                while at - acknowledged > window - CHUNK:
                    acknowledged = int(session.wait("IMG ACK")[3])
                part = data[at:at + CHUNK]
                session.send(f"IMG DATA {image} {at} {base64.b64encode(part).decode()}")
                at += len(part)
                self.spend(session, len(part))
            session.send(f"IMG END {image} {digest}")
            answer = session.wait("IMG DONE")
        return answer[2]

    def download(self, session, channel, image, path):
        if channel.startswith("#"):
            session.join(channel)
        with open(path, "ab") as file:
            at = file.tell()
            session.send(f"IMG GET {image} {at} chunk={CHUNK}")
            while True:
                words = session.wait("IMG DATA", "IMG EOF")
                if words[1] == "EOF":
                    break
                if int(words[3]) != at:
                    raise Refused(f"byte {words[3]} in the place of {at}")
                part = base64.b64decode(words[4])
                file.write(part)
                file.flush()
                at += len(part)
                self.spend(session, len(part))
        if hashlib.sha256(open(path, "rb").read()).hexdigest() != words[3]:
            raise Refused("what came is not what is stored")


def main(host, port, verb, place, *rest):
    bot = Bot(host, int(port))
    try:
        if verb == "send":
            data = open(rest[0], "rb").read()
            caption = rest[1] if len(rest) > 1 else ""
            print(bot.persist(lambda session: bot.upload(session, place, rest[0], data, caption)))
        else:
            bot.persist(lambda session: bot.download(session, place, rest[0], rest[1]))
    except Refused as error:
        raise SystemExit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
