# SPDX-License-Identifier: Apache-2.0
"""Clients of servers on this host: recorded once, replayed with the server gone, the same bytes."""
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import ENV, MODES, ROOT, Scratch, Tap, as_mode, descendants, require_programs, run  # noqa: E402
import servers  # noqa: E402

LONG = "--long" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
REPLAYS = 3 if LONG else 1
BIG = 3_000_000

URLLIB = """
import ssl, sys, time, urllib.request
context = ssl.create_default_context(cafile="ca.pem") if sys.argv[1].startswith("https") else None
for path in sys.argv[2:]:
    with urllib.request.urlopen(sys.argv[1] + path, context=context) as answer:
        print(answer.status, len(answer.read()), time.time())
"""
POST = """
import hashlib, sys, urllib.request
data = bytes(range(256)) * 20000
with urllib.request.urlopen(sys.argv[1] + "/echo", data=data) as answer:
    print(hashlib.sha256(answer.read()).hexdigest(), hashlib.sha256(data).hexdigest())
"""
BACK_OFF = """
import sys, time, urllib.error, urllib.request
for attempt in range(1, 10):
    try:
        with urllib.request.urlopen(sys.argv[1] + "/fails") as answer:
            print(attempt, time.time(), answer.read(), flush=True)
            break
    except urllib.error.HTTPError as e:
        print(attempt, time.time(), e.code, flush=True)
        time.sleep(3600)
"""
LOOK_UP = """
import socket, struct, sys, time
def ask(s, name, to=None):
    query = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\\0\\0\\1\\0\\1"
    s.sendto(query, to) if to else s.send(query)
    s.settimeout(5)
    answer, peer = s.recvfrom(2000) if to else (s.recv(2000), s.getpeername())
    print(name, answer[3] & 15, answer[-4:], peer, s.getsockname()[1] > 1023, time.time())
to = ("127.0.0.1", int(sys.argv[1]))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    ask(s, "one.example", to)
    ask(s, "two.none", to)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.connect(to)
    ask(s, "three.example")
"""
SOCKETS = """
import errno, select, socket, sys, time
port, closed = int(sys.argv[1]), int(sys.argv[2])
def tell(*what): print(*what, round(time.time() - 1.7e9, 3), flush=True)
def trial(name, f):
    try: tell(name, f())
    except OSError as e: tell(name, errno.errorcode.get(e.errno, e))
s = socket.create_connection(("127.0.0.1", port))
tell("names", s.getpeername() == ("127.0.0.1", port), s.getsockname()[0])
s.sendall(b"a line\\n")
tell("answer", s.recv(100))
s.shutdown(socket.SHUT_WR)
tell("rest", s.recv(100), s.recv(100))
s.close()
trial("closed", lambda: socket.create_connection(("127.0.0.1", closed)))
trial("refused", lambda: socket.create_connection(("127.0.0.1", 1)))
trial("elsewhere", lambda: socket.create_connection(("192.0.2.9", 80)))
s = socket.socket()
s.setblocking(False)
tell("connect", errno.errorcode.get(s.connect_ex(("127.0.0.1", port))))
p = select.epoll()
p.register(s, select.EPOLLOUT)
tell("events", p.poll(5)[0][1], s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
s.send(b"break\\n")
p.modify(s, select.EPOLLIN)
tell("events", p.poll(5)[0][1])
trial("broken", lambda: s.recv(10))
s = socket.socket()
s.setblocking(False)
s.connect_ex(("127.0.0.1", closed))
tell("closed", select.select([], [s], [], 5)[1] == [s], errno.errorcode.get(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)))
inside = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(inside.getsockname())
c.send(b"inside")
tell("inside", inside.accept()[0].recv(10))
"""
TIMERS = """
import select, socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"slow\\n")
while True:
    ready = select.select([s], [], [], 0.3)[0]
    print(bool(ready), time.time(), flush=True)
    if ready:
        some = s.recv(1000)
        print(some)
        if not some:
            break
"""
RETRIES = """
import socket, sys, time
done, s = 0, None
while done < 6:
    try:
        s = s or socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        s.sendall(b"%d\\n" % done)
        answer = s.recv(100)
        print(done, answer, flush=True)
        done += 1
    except ConnectionError as e:
        print("again", flush=True)
        s = None
        time.sleep(1)
"""
JAVA = """
import java.net.URI;
import java.net.http.*;
public class Client {
    public static void main(String[] args) throws Exception {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        for (int i = 0; i < 3; i++) {
            HttpResponse<String> answer = client.send(HttpRequest.newBuilder(URI.create(args[0])).build(),
                HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.body().length() + " " + System.currentTimeMillis());
        }
    }
}
"""
GO = """
package main
import ("fmt"; "io"; "net/http"; "os"; "time")
func main() {
    for i := 0; i < 3; i++ {
        answer, err := http.Get(os.Args[1])
        if err != nil { fmt.Println(err); os.Exit(1) }
        body, err := io.ReadAll(answer.Body)
        answer.Body.Close()
        fmt.Println(answer.StatusCode, len(body), err, time.Now().UnixNano())
    }
}
"""
NODE = """
(async () => {
    const all = await Promise.all([0, 1, 2].map(async () => {
        const answer = await fetch(process.argv[2]);
        return [answer.status, (await answer.text()).length, Date.now()];
    }));
    console.log(JSON.stringify(all));
})().catch((e) => { console.error(e); process.exit(1); });
"""


class Bench:
    """A directory with what the servers serve, one that the clients are started in, and the tapes."""

    def __init__(self, scratch, mode):
        self.scratch, self.mode = scratch, mode
        self.served = scratch.mkdir(f"served-{mode}", ROOT)
        self.work = scratch.mkdir(f"work-{mode}", mode)
        self.tapes = scratch.mkdir(f"tapes-{mode}", mode)
        self.state = scratch.mkdir(f"state-{mode}", mode)
        for name, size in (("small", 300), ("big", BIG)):
            with open(os.path.join(self.served, name), "wb") as f:
                f.write((name.encode() * size)[:size])

    def put(self, name, text):
        with open(os.path.join(self.work, name), "w", encoding="utf-8") as f:
            f.write(text)
        self.scratch.give(self.work, self.mode)

    def sandglass(self, *argv, **more):
        env = {"TMPDIR": self.scratch.tmp, "XDG_STATE_HOME": self.state}
        return run([self.scratch.join("bin", "sandglass"), *argv], mode=self.mode, cwd=self.work, env=env, timeout=240, **more)


def describe(done):
    return f"{done.tell()}, stdout {done.out[:400]}"


def held(bench, name, server, argv, expected, network="allow=127.0.0.1:{port}", options=()):
    """Records argv (a list with {port}) while the server is there, then replays it without."""
    tape = os.path.join(bench.tapes, name.replace(" ", "-").replace("/", "-"))
    with server as port:
        words = [word.replace("{port}", str(port)) for word in argv]
        first = bench.sandglass("run", "--network", network.replace("{port}", str(port)), *options, "--record", tape, "--", *words)
    if first.status != 0 or (expected not in first.out and expected not in first.err):
        return [f"recorded: {describe(first)}"]
    for number in range(REPLAYS):
        again = bench.sandglass("replay", tape)
        if (again.status, again.out) != (first.status, first.out):
            return [f"recorded: {describe(first)}", f"replay {number + 1}: {describe(again)}"]
    check = bench.sandglass("tape", "verify", tape)
    return [] if check.status == 0 else [f"tape: {describe(check)}"]


def converse(connection):
    """The other side of SOCKETS and TIMERS."""
    with connection:
        line = connection.makefile("rb").readline()
        if line == b"break\n":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif line == b"slow\n":
            for part in (b"first", b"second"):
                threading.Event().wait(0.7)
                connection.sendall(part)
        elif line:
            connection.sendall(b"answer to " + line)
            connection.recv(10)
            connection.sendall(b"rest")


def check_clients(bench):
    yield "curl", lambda: held(bench, "curl", servers.web(bench.served), ["curl", "-sS", "-D", "-", "http://127.0.0.1:{port}/small"], b"small")
    yield "urllib over TLS", lambda: over_tls(bench)
    yield "a name that is allowed", lambda: held(
        bench, "name", servers.web(bench.served), ["python3", "-c", URLLIB, "http://localhost:{port}", "/big"], b"200 3000000 ",
        network="allow=localhost:{port}")
    yield "sending much", lambda: held(bench, "post", servers.web(bench.served), ["python3", "-c", POST, "http://127.0.0.1:{port}"], b"9")
    yield "a name server over UDP", lambda: held(bench, "dns", servers.names(), ["python3", "-c", LOOK_UP, "{port}"], b"three.example 0")
    yield "timers while the outside is waited for", lambda: held(
        bench, "timers", servers.lines(converse), ["python3", "-c", TIMERS, "{port}"], b"b'second'")


def over_tls(bench):
    both, alone = servers.certificate(bench.scratch.join(f"certificate-{bench.mode}"))
    servers.copy(alone, os.path.join(bench.work, "ca.pem"))
    return held(bench, "tls", servers.web(bench.served, both), ["python3", "-c", URLLIB, "https://localhost:{port}", "/small", "/big"],
                b"200 3000000 ", network="host")


def what_sockets_do(bench):
    closed = servers.free_port()
    problems = held(bench, "sockets", servers.lines(converse), ["python3", "-c", SOCKETS, "{port}", str(closed)], b"inside",
                    network="allow=127.0.0.1:{port},127.0.0.1:" + str(closed))
    shown = bench.sandglass("replay", os.path.join(bench.tapes, "sockets")).out.decode()
    for line in ("names True 127.0.0.1", "answer b'answer to a line\\n'", "rest b'rest' b''", "closed ECONNREFUSED",
                 "refused ECONNREFUSED", "elsewhere EACCES", "connect EINPROGRESS", "events 4 0", "broken ECONNRESET",
                 "closed True ECONNREFUSED", "inside b'inside'"):
        if line not in shown:
            problems.append(f"no '{line}' in\n{shown}")
    return problems


def an_hour_of_back_off(bench):
    problems = held(bench, "back-off", servers.web(bench.served), ["python3", "-c", BACK_OFF, "http://127.0.0.1:{port}"], b"attempt 3")
    if not problems:
        out = bench.sandglass("replay", os.path.join(bench.tapes, "back-off")).out.split()
        if not 7200 <= float(out[-3]) - float(out[1]) < 7260:
            problems.append(f"two hours are not two hours: {out}")
    return problems


def echo(connection):
    with connection, connection.makefile("rb") as f:
        for line in f:
            threading.Event().wait(0.15)
            connection.sendall(b"ok " + line)


def resumed(bench):
    """Killed between two answers: its connection is broken, the next one works, and nothing is asked twice."""
    journal = os.path.join(bench.tapes, "journal")
    env = {**ENV, "TMPDIR": bench.scratch.tmp, "XDG_STATE_HOME": bench.state}
    with servers.lines(lambda c: threading.Thread(target=echo, args=(c,), daemon=True).start()) as port:
        argv = [bench.scratch.join("bin", "sandglass"), "run", "--network", f"allow=127.0.0.1:{port}", "--journal", journal, "--",
                "python3", "-c", RETRIES, str(port)]
        with subprocess.Popen(as_mode(bench.mode, argv), cwd=bench.work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as p:
            before = p.stdout.readline() + p.stdout.readline()
            for pid in [p.pid, *descendants(p.pid)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            before += p.stdout.read()
        done = bench.sandglass("resume", journal)
    again = bench.sandglass("replay", journal)
    out = before + done.out
    answers = [b"%d b'ok %d\\n'" % (i, i) for i in range(6)]
    lines = out.splitlines()
    if done.status == 0 and [line for line in lines if line != b"again"] == answers and b"again" in lines and again.out == out:
        return []
    return [f"before: {before}", f"resumed: {describe(done)}", f"replayed: {describe(again)}"]


def only_what_is_allowed(bench):
    with servers.web(bench.served) as port:
        url = f"http://127.0.0.1:{port}/small"
        wrong = bench.sandglass("run", "--network", f"allow=127.0.0.1:{port + 1 if port < 65535 else port - 1}", "--", "curl", "-sS", url)
        none = bench.sandglass("run", "--", "curl", "-sS", url)
    with servers.web(bench.served) as port:
        refused = bench.sandglass("run", "--network", f"allow=127.0.0.1:{port}", "--", "curl", "-sS", "http://192.0.2.9/")
    problems = [describe(d) for d in (wrong, none) if d.status != 7]
    if refused.status != 7 or b"a connection to 192.0.2.9:80" not in refused.err or b"does not name" not in refused.err:
        problems.append(describe(refused))
    return problems


def verified(bench):
    with servers.web(bench.served) as port:
        done = bench.sandglass("run", "--verify", "--network", "host", "--", "curl", "-sS", f"http://127.0.0.1:{port}/small")
    return [] if done.status == 0 and done.out.startswith(b"small") else [describe(done)]


def other_bytes(bench):
    """A program that sends what the recording did not: both sides are named."""
    tape = os.path.join(bench.tapes, "differs")
    program = "import sys,urllib.request; print(len(urllib.request.urlopen(sys.argv[1] + '/' + open('what').read()).read()))"
    bench.put("what", "small")
    with servers.web(bench.served) as port:
        first = bench.sandglass("run", "--network", "host", "--record", tape, "--", "python3", "-c", program, f"http://127.0.0.1:{port}")
    bench.put("what", "large")
    second = bench.sandglass("replay", "--override", tape)
    os.unlink(os.path.join(bench.work, "what"))
    if first.status == 0 and second.status == 122 and b"GET /small" in second.err and b"GET /large" in second.err:
        return []
    return [describe(first), describe(second)]


def shown_well(bench):
    tape = os.path.join(bench.tapes, "curl")
    text = bench.sandglass("tape", "show", tape).out.decode()
    records = [json.loads(line) for line in bench.sandglass("tape", "show", "--json", tape).out.splitlines()]
    kinds = {r["kind"] for r in records}
    problems = [] if kinds >= {"connect", "received", "sent", "outcome"} else [f"kinds {kinds}"]
    for part in ("tcp to 127.0.0.1:", ": made", "GET /small HTTP/1.1", "HTTP/1.1 200 OK"):
        if part not in text:
            problems.append(f"no '{part}' in\n{text}")
    return problems


@contextlib.contextmanager
def repository(bench):
    """A repository that plain files serve."""
    source, bare = os.path.join(bench.served, "source"), os.path.join(bench.served, "repo.git")
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    for words in (["git", "init", "-q", source], ["git", "-C", source, "commit", "-q", "--allow-empty", "-m", "first"],
                  ["git", "clone", "-q", "--bare", source, bare], ["git", "-C", bare, "update-server-info"]):
        done = run(words, env=env)
        if done.status:
            raise RuntimeError(f"{words}: {done.tell()}")
    with servers.web(bench.served) as port:
        yield port


@contextlib.contextmanager
def packages(bench):
    """A registry of one package, of plain files; the addresses in it are the server's."""
    port = servers.free_port()
    root = os.path.join(bench.served, "registry")
    os.makedirs(os.path.join(root, "package"))
    with open(os.path.join(root, "package", "package.json"), "w", encoding="utf-8") as f:
        json.dump({"name": "one-thing", "version": "1.0.0", "main": "index.js"}, f)
    with open(os.path.join(root, "package", "index.js"), "w", encoding="utf-8") as f:
        f.write("module.exports = 'one thing';\n")
    done = run(["tar", "-C", root, "-czf", os.path.join(root, "one-thing.tgz"), "package"])
    if done.status:
        raise RuntimeError(done.tell())
    with open(os.path.join(root, "one-thing"), "w", encoding="utf-8") as f:
        version = {"name": "one-thing", "version": "1.0.0", "dist": {"tarball": f"http://127.0.0.1:{port}/one-thing.tgz"}}
        json.dump({"name": "one-thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}, f)
    with servers.program(["python3", "-m", "http.server", "--bind", "127.0.0.1", "-d", root, str(port)], port):
        yield port


@contextlib.contextmanager
def redis():
    port = servers.free_port()
    with servers.program(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""], port, cwd="/tmp"):
        yield port


@contextlib.contextmanager
def postgres(bench):
    """A cluster of its own, as the user that PostgreSQL insists on not being root."""
    binaries = "/usr/lib/postgresql/15/bin/"
    data, port = bench.scratch.mkdir(f"postgres-{bench.mode}", ROOT), servers.free_port()
    plain = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    if plain:
        os.chown(data, 65534, 65534)
    done = run([binaries + "initdb", "-A", "trust", "-N", "-U", "tester", "-D", data], cwd=data, **plain)
    if done.status:
        raise RuntimeError(done.tell())
    with servers.program([binaries + "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1", "-k", data], port,
                         cwd=data, **plain):
        yield port


def go_client(bench):
    bench.put("client.go", GO)
    built = run(["go", "build", "-o", "client", "client.go"], cwd=bench.work, timeout=240,
                env={"CGO_ENABLED": "0", "GOCACHE": bench.scratch.join("go-cache"), "GOFLAGS": "-mod=mod", "HOME": bench.scratch.tmp})
    bench.scratch.give(bench.work, bench.mode)
    if built.status:
        return [built.tell()]
    return held(bench, "go", servers.web(bench.served), ["./client", "http://127.0.0.1:{port}/small"], b"200 300")


def java_client(bench):
    bench.put("Client.java", JAVA)
    built = run(["javac", "Client.java"], cwd=bench.work, timeout=240)
    bench.scratch.give(bench.work, bench.mode)
    if built.status:
        return [built.tell()]
    return held(bench, "java", servers.web(bench.served), ["java", "-cp", ".", "Client", "http://127.0.0.1:{port}/small"], b"200 300")


def node_client(bench):
    bench.put("client.js", NODE)
    return held(bench, "node", servers.web(bench.served), ["node", "client.js", "http://127.0.0.1:{port}/small"], b"[200,300,")


def check_long(bench):
    yield "resumed after a kill", lambda: resumed(bench)
    yield "git clone", lambda: held(
        bench, "git", repository(bench), ["sh", "-c", "git clone -q http://127.0.0.1:{port}/repo.git c && git -C c log --oneline"], b"first")
    yield "redis-cli", lambda: held(
        bench, "redis", redis(), ["sh", "-c", "for c in 'set a 1' 'incr a' 'lpush l x y z' 'lrange l 0 9'; do redis-cli -p {port} $c; done"], b"z\n")
    yield "psql", lambda: held(
        bench, "psql", postgres(bench),
        ["/usr/lib/postgresql/15/bin/psql", "-XAtq", "-h", "127.0.0.1", "-p", "{port}", "-U", "tester", "postgres", "-c",
         "create table t as select n, n * n as m from generate_series(1, 1000) n", "-c", "select sum(m), now() > '2000-01-01' from t"],
        b"333833500|t")
    yield "node fetch", lambda: node_client(bench)
    yield "Java HttpClient", lambda: java_client(bench)
    yield "Go net/http", lambda: go_client(bench)
    yield "npm install", lambda: held(
        bench, "npm", packages(bench),
        ["sh", "-c", "npm install --no-audit --no-fund --registry http://127.0.0.1:{port}/ one-thing >&2 && node -p 'require(\"one-thing\")'"],
        b"one thing")


def check_short(bench):
    yield from check_clients(bench)
    yield "what sockets tell", lambda: what_sockets_do(bench)
    yield "an hour of back-off, twice", lambda: an_hour_of_back_off(bench)
    yield "only what is allowed", lambda: only_what_is_allowed(bench)
    yield "run --verify", lambda: verified(bench)
    yield "other bytes sent", lambda: other_bytes(bench)
    yield "tape show", lambda: shown_well(bench)


def main():
    require_programs()
    tap = Tap()
    with Scratch() as scratch:
        for mode in MODES if LONG else MODES[:1]:
            bench = Bench(scratch, mode)
            for name, check in [*check_short(bench), *(check_long(bench) if LONG else [])]:
                if ONLY and ONLY not in name:
                    continue
                try:
                    tap.case(f"{mode}: {name}", check())
                except (OSError, RuntimeError) as e:
                    tap.case(f"{mode}: {name}", [f"{type(e).__name__}: {e}"])
    tap.finish()


if __name__ == "__main__":
    main()
