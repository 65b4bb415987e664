"""A Redis server for tests: plain and with TLS, one user, and what it has answered is on the disk."""

import pathlib
import signal
import socket
import subprocess

import cepd_e2e
from cepd_e2e import PATIENCE, certificates, free_port, port_open, wait_until


class RedisServer:
    """A redis-server of the test's own; what it has answered is on the disk."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir()
        self.tls = certificates(self.directory / "tls")
        self.port, self.tls_port = free_port(), free_port()
        self.process = None

    def start(self):
        config = self.directory / "redis.conf"
        config.write_text(
            f"bind 127.0.0.1 127.0.0.2\nport {self.port}\ntls-port {self.tls_port}\ntls-cert-file {self.tls}/server.crt\n"
            f"tls-key-file {self.tls}/server.key\ntls-ca-cert-file {self.tls}/ca.crt\ntls-auth-clients optional\n"
            f"dir {self.directory}\nsave \"\"\nappendonly yes\nappendfsync always\nuser default off\n"
            "user cepd on >right ~* &* +@all\nproto-max-bulk-len 1mb\n")
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([cepd_e2e.find_program("redis-server"), config], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)
        wait_until(lambda: port_open(self.port) and self.ask("PING") == "PONG", "the server")
        return self

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        stream = connection.makefile("rwb")
        self.ask_on(stream, "AUTH", "cepd", "right")
        return connection, stream

    def ask(self, *command):
        connection, stream = self.connect()
        with connection, stream:
            return self.ask_on(stream, *command)

    @classmethod
    def ask_on(cls, stream, *command):
        parts = [str(part).encode() for part in command]
        stream.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        stream.flush()
        return cls.read(stream)

    @classmethod
    def read(cls, stream):
        line = stream.readline()[:-2].decode()
        if not line:
            return None
        kind, rest = line[0], line[1:]
        if kind == "*":
            return [cls.read(stream) for _ in range(int(rest))]
        if kind == "$":
            return stream.read(int(rest) + 2)[:-2].decode() if int(rest) >= 0 else None
        return int(rest) if kind == ":" else rest
