# SPDX-License-Identifier: Apache-2.0
"""Servers on this host's loopback for programs that are recorded: they stop when their block ends."""
import contextlib
import http.server
import os
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of a directory; /fails answers 503 twice and then 200, /echo what was posted."""
    protocol_version = "HTTP/1.1"
    failures = 0

    def log_message(self, *args):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/fails":
            Handler.failures += 1
            self.answer(503 if Handler.failures <= 2 else 200, b"attempt %d\n" % Handler.failures)
        else:
            super().do_GET()

    def do_POST(self):
        self.answer(200, self.rfile.read(int(self.headers["Content-Length"])))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


@contextlib.contextmanager
def web(directory, certificate=None, host="127.0.0.1", handler=Handler):
    """The port of a server of that directory; over TLS when it has a certificate."""
    Handler.failures = 0
    server = Server((host, 0), lambda *a: handler(*a, directory=directory))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def certificate(path):
    """A self-signed one for localhost, with its key: in one file for the server, and alone for clients."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "20000", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:TRUE", "-not_before",
                    "20200101000000Z", "-keyout", path + ".key", "-out", path + ".pem"], check=False, capture_output=True)
    if not os.path.exists(path + ".pem") or not os.path.getsize(path + ".pem"):
        make_certificate(path)
    with open(path + ".both", "wb") as both:
        for part in (".key", ".pem"):
            with open(path + part, "rb") as f:
                both.write(f.read())
    return path + ".both", path + ".pem"


def make_certificate(path):
    """The same where `openssl req` takes no date: one that is valid when the guest's clock begins (November 2023)."""
    with open(path + ".conf", "w", encoding="utf-8") as f:
        f.write("[ca]\ndefault_ca=d\n[d]\nnew_certs_dir=%s\ndatabase=%s.db\nserial=%s.serial\ndefault_md=sha256\npolicy=p\n"
                "x509_extensions=x\n[p]\ncommonName=supplied\n[x]\nsubjectAltName=DNS:localhost\n"
                "basicConstraints=critical,CA:TRUE\n" % (os.path.dirname(path), path, path))
    with open(path + ".db", "w", encoding="utf-8"), open(path + ".serial", "w", encoding="utf-8") as serial:
        serial.write("01\n")
    subprocess.run(["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", path + ".key", "-out",
                    path + ".csr"], check=True, capture_output=True)
    subprocess.run(["openssl", "ca", "-batch", "-selfsign", "-config", path + ".conf", "-startdate", "20200101000000Z", "-enddate",
                    "20490101000000Z", "-keyfile", path + ".key", "-in", path + ".csr", "-out", path + ".pem", "-notext"],
                   check=True, capture_output=True)


@contextlib.contextmanager
def names():
    """A name server: every name has the address 192.0.2.7, and *.none has none."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    port = sock.getsockname()[1]

    def serve():
        while True:
            query, peer = sock.recvfrom(2000)
            if query == b"stop":
                return
            end = query.index(b"\0", 12) + 5
            kind = struct.unpack(">H", query[end - 4:end - 2])[0]
            found = kind == 1 and b"\x04none\0" not in query
            head = query[:2] + struct.pack(">HHHHH", 0x8180 if found else 0x8183, 1, int(found), 0, 0)
            answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([192, 0, 2, 7]) if found else b""
            sock.sendto(head + query[12:end] + answer, peer)
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield port
    finally:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stop:
            stop.sendto(b"stop", ("127.0.0.1", port))
        thread.join()
        sock.close()


@contextlib.contextmanager
def lines(talk):
    """A server that gives each connection to talk(socket)."""
    sock = socket.create_server(("127.0.0.1", 0))
    ended = False

    def serve():
        while True:
            connection = sock.accept()[0]
            if ended:
                return
            talk(connection)
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield sock.getsockname()[1]
    finally:
        ended = True
        with contextlib.suppress(OSError), socket.create_connection(sock.getsockname()):
            thread.join(5)
        sock.close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def wait_for(port, process, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args[0]} did not listen")


@contextlib.contextmanager
def program(argv, port, **popen):
    """A server program, until the block ends."""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **popen) as p:
        try:
            wait_for(port, p)
            yield port
        finally:
            p.terminate()
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()


def copy(source, target):
    shutil.copy(source, target)
    os.chmod(target, 0o644)
