#!/usr/bin/env python3
"""Hostile requests: each must be refused with its code and one log line, and the server must continue. Usage: hostile.py BASE TOKEN_BASE TOKEN PID"""
import json
import os
import resource
import socket
import sys
import time
import urllib.error
import urllib.request

SLOW = float(os.environ.get("JEOUL_SLOW", "1"))  # a sanitizer makes answers so much slower

base, guarded, token, pid = sys.argv[1:5]
failed = 0


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAILED:", what)


def port_of(address):
    return int(address.rsplit(":", 1)[1])


def raw(data, address=base, wait=10.0, until=b""):
    """Response of one connection; b"" if closed without one."""
    with socket.create_connection(("127.0.0.1", port_of(address)), timeout=wait) as s:
        try:
            for piece in data if isinstance(data, list) else [data]:
                s.sendall(piece)
        except OSError:
            pass
        got = b""
        try:
            while chunk := s.recv(65536):
                got += chunk
                if b"\r\n\r\n" in got:
                    break
        except OSError:
            pass
        return got


def code(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


def request(method="GET", path="/", host="localhost", headers="", body=b""):
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n".encode() + body


def ask(command, body, address=base, headers=None):
    r = urllib.request.Request(f"{address}/api/v1/{command}", data=json.dumps(body).encode(), headers={"Content-Type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(r, timeout=60 * SLOW) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        return e.code, e.read()


def memory_kB():
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


CASE = {"model": "gpt2-124m", "on": "rtx-4090"}
JSON = "Content-Type: application/json\r\n"
check(ask("predict", CASE)[0] == 200, "a plain question")

# other host names (DNS rebinding), and invalid ones
for host in ["evil.example", "evil.example:8410", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "[::1", "localhost:x", "localhost:8410:1", "localhost:+80", "localhost: 80", "localhost:0", "localhost:", "a" * 5000, "0.0.0.0", "\x01"]:
    check(code(raw(request(host=host))) in (421, 400, 431), f"Host {host[:30]!r}: {raw(request(host=host))[:60]}")
check(code(raw(b"GET / HTTP/1.1\r\n\r\n")) in (400, 421), "no Host")
for host in ["localhost", "LOCALHOST:1234", "127.0.0.1", "[::1]:80"]:
    check(code(raw(request(host=host))) == 200, f"Host {host!r}")

# path traversal, and unknown paths
for path in ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../../x", "//etc/passwd", "/index.html%00.js", "/api/v1/", "/api/v1/bench/all", "/api/v1/store/delete", "/api/v1/predict/../x", "/" + "a" * 4000, "/api/v1/" + "a" * 200]:
    answer = raw(request(path=path))
    check(code(answer) in (404, 405, 400, 414, 431) and b"root:" not in answer, f"path {path[:40]}: {answer[:60]}")
for method in ["PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "PROPFIND", "G" * 300]:
    check(code(raw(request(method=method))) in (405, 400, 501), f"method {method[:20]}")

# malformed requests
for data in [b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", b"\xff\xfe\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nX\r\n\r\n", b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
             b"POST /api/v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: -5\r\n\r\n{}", b"POST /api/v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 900\r\n\r\n{}",
             b"POST /api/v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n"]:
    check(code(raw(data, wait=1.5)) in (0, 200, 400, 413, 421, 422, 501, 505), f"malformed {data[:40]}: {raw(data, wait=1.5)[:40]}")

# oversized headers
check(code(raw(request(headers="".join(f"X-{i}: {'a' * 40}\r\n" for i in range(10000))))) in (0, 400, 413, 431), "ten thousand headers")
check(code(raw(request(headers="X: " + "a" * 1_000_000 + "\r\n"))) in (0, 400, 413, 431), "one header of a megabyte")
check(code(raw(request(path="/?" + "a=1&" * 100000))) in (0, 400, 413, 414, 431), "a hundred thousand arguments")

# request bodies
begin = time.time()
check(code(raw(request("POST", "/api/v1/predict", headers=JSON + "Content-Length: 1073741824\r\n"))) == 413, "1 GB announced")
check(time.time() - begin < 5, "1 GB is refused before it is sent")
check(code(raw(request("POST", "/api/v1/predict", headers=JSON + "Content-Length: 99999999999999999999\r\n"))) in (400, 413), "more than a number")
chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
check(code(raw([request("POST", "/api/v1/predict", headers=JSON + "Transfer-Encoding: chunked\r\n")] + [chunk] * 400, wait=20)) in (0, 413), "25 MB in chunks")
check(code(raw(request("POST", "/api/v1/predict", headers="Content-Type: text/plain\r\nContent-Length: 2\r\n", body=b"{}"))) == 415, "what a form can send")
check(code(raw(request("POST", "/api/v1/predict", headers=JSON + "Sec-Fetch-Site: cross-site\r\nContent-Length: 2\r\n", body=b"{}"))) == 403, "from a page of another site")
BODY = b'{"model":"gpt2-124m","on":"rtx-4090"}'
for origin, want in [("http://evil.example", 403), ("http://localhost:3000", 403), ("null", 403), ("http://localhost", 200)]:
    got = raw(request("POST", "/api/v1/predict", headers=JSON + f"Origin: {origin}\r\nContent-Length: {len(BODY)}\r\nConnection: close\r\n", body=BODY))
    check(code(got) == want, f"Origin {origin}: {got[:60]}")
check(code(raw(request("POST", "/api/v1/predict", headers="Content-Type: application/jsonp\r\nContent-Length: 2\r\n", body=b"{}"))) == 415, "a type that only begins like JSON")
for path in ["/metrics", "/api/v1/live"]:
    check(code(raw(request(path=path, headers="Sec-Fetch-Site: same-site\r\n"))) == 403, f"{path} from another port of this machine")
    check(code(raw(request(path=path, headers="Sec-Fetch-Site: cross-site\r\n"))) == 403, f"{path} from a page of another site")
# request smuggling: ambiguous lengths are refused; the hidden request is not answered
HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
for extra, body in [(f"Content-Length: {len(BODY)}\r\nContent-Length: 5\r\n", BODY), (f"Host: 127.0.0.1\r\nContent-Length: {len(BODY)}\r\n", BODY),
                    (f"Content-Length: {len(BODY)}\r\nTransfer-Encoding: chunked\r\n", b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))]:
    got = raw(request("POST", "/api/v1/predict", headers=JSON + extra, body=body + HIDDEN))
    check(code(got) == 400 and got.count(b"HTTP/1.1") == 1, f"two ways to read {extra[:40]!r}: {got[:60]}")
check(b"access-control" not in raw(request("POST", "/api/v1/predict", headers=JSON + "Origin: http://evil.example\r\nContent-Length: 2\r\n", body=b"{}")).lower(), "no CORS")
for body in [b"", b"[]", b"{", b'{"model":1e999}', b'{"model":"' + b"a" * 100000 + b'"}', b"[" * 100000, b'{"a":' * 3000, b'{"model":"\\ud800"}', b'{"model":"gpt2-124m","on":"' + b"2x(" * 500 + b'rtx-4090"}',
             b'{"model":"../../../etc/passwd","on":"rtx-4090"}', b'{"model":"/etc/hostname.json","on":"rtx-4090"}', b'{"model":"gpt2-124m","on":"rtx-4090","catalog":"/etc"}', b'\xff\xfe{}', b"null"]:
    answer = raw(request("POST", "/api/v1/predict", headers=JSON + f"Content-Length: {len(body)}\r\n", body=body))
    check(code(answer) in (400, 422), f"body {body[:50]}: {answer[:80]}")
status, text = ask("report", {"scenario": "a.yaml", "as": "html", "files": {"a.yaml": "title: '<script>alert(1)</script>'\nsystems:\n  - {on: rtx-4090, name: '\"><img src=x onerror=alert(2)>'}\n"}})
check(status == 200 and b"<script" not in text and b"<img" not in text, f"markup in a scenario is text: {status} {text[:200]}")
status, text = ask("report", {"scenario": "a.yaml", "files": {"a.yaml": "title: a\nsystems:\n  - rtx-4090\nmeasured:\n  - {file: /etc/passwd}\n"}})
check(b"root:" not in text, "a scenario names a file of this machine")

# invalid header names and duplicates: refused; the hidden request is not answered
for extra in ["Content-Length : 5\r\nTransfer-Encoding: chunked\r\n", f"Content-Length: {len(BODY)}\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n", f"Content-Length: {len(BODY)}\r\nContent-Type: text/plain\r\n",
              f"Content-Length: {len(BODY)}\r\nX Y: 1\r\n", f"Content-Length: {len(BODY)}\r\nX: a\x01b\r\n"]:
    got = raw(request("POST", "/api/v1/predict", headers=JSON + extra, body=BODY + HIDDEN))
    check(code(got) in (0, 400) and got.count(b"HTTP/1.1") <= 1, f"headers {extra[:40]!r}: {got[:60]}")
for form, type_ in [("json", b"application/json"), ("html", b"text/html"), ("text", b"text/plain")] * 2:
    body = BODY[:-1] + b',"as":"%s"}' % form.encode()
    got = raw(request("POST", "/api/v1/predict", headers=JSON + f"Content-Length: {len(body)}\r\nConnection: close\r\n", body=body))
    check(code(got) == 200 and b"content-type: " + type_ in got.lower(), f"as {form}: {got[:300]}")
status, text = ask("probe", {"with-names": True})
check(status == 400, f"the names of this machine are for who sits at it: {status} {text[:200]}")
# a trace path in a request is not opened
with open(f"/tmp/jeoul-hostile-{pid}.json", "w") as f:
    f.write('{"schemaVersion": 1, "deviceProperties": [{"name": "NVIDIA H100"}], "traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 5, "args": {}}]}')
status, text = ask("check", {"kind": f.name})
check(status in (400, 422) and b"H100" not in text and b"neither a file nor" in text, f"a trace of this machine: {status} {text[:200]}")
os.unlink(f.name)
# a crashing worker is an error of one request, counted; the server continues
for child in os.popen(f"ps -o pid= --ppid $(ps -o pid= --ppid {pid})").read().split():
    os.kill(int(child), 9)
check(ask("predict", {**CASE, "batch": 7})[0] == 200, "after its processes were killed")
check(b'jeoul_processes_total{what="died"} 0' not in urllib.request.urlopen(base + "/metrics").read(), "those that died are counted")
for pid_ in os.popen(f"ps -o pid= --ppid $(ps -o pid= --ppid {pid})").read().split():
    with open(f"/proc/{pid_}/status") as f:
        lines = f.read()
    check("NoNewPrivs:\t1" in lines and ("Seccomp:\t2" in lines or not os.path.exists("/proc/sys/kernel/seccomp")), f"a process that answers is not confined: {lines}")

# readable files: src/show/web/workers.c lists them individually, no folder with secrets of others
with open(os.path.join(os.environ["JEOUL_SOURCE"], "src/show/web/workers.c")) as f:
    granted = f.read().split("static const char *const system[] = {")[1].split("};")[0]
for folder in ["/proc", "/etc", "/run", "/home", "/root", "/var", "/tmp", "/"]:
    check(f'"{folder}"' not in granted, f"processes that answer may read all of {folder}")
check(ask("probe", {"no-load": True})[0] == 200 and b'"cpu"' in ask("probe", {"no-load": True})[1], "this machine is still seen")

# the token
check(ask("predict", CASE, guarded)[0] == 401, "no token")
for wrong in ["", "x", token[:-1], token + "0", token[:-1] + ("0" if token[-1] != "0" else "1"), "é"]:
    check(ask("predict", CASE, guarded, {"Authorization": ("Bearer " + wrong).encode("latin-1", "ignore").decode("latin-1")})[0] == 401, f"a wrong token of {len(wrong)}")
    check(code(raw(request(path=f"/?token={urllib.request.quote(wrong)}"), guarded)) == 401, "a wrong token in the address")
check(ask("predict", CASE, guarded, {"Authorization": "Bearer " + token})[0] == 200, "the right token")
check(code(raw(request(path=f"/api/v1/hello?token={token}"), guarded)) == 401, "the token in an address is for the page alone")
entered = raw(request(path=f"/?token={token}"), guarded).decode()
check(code(entered.encode()) == 303 and "HttpOnly" in entered and "SameSite=Strict" in entered, f"the cookie: {entered[:300]}")
check(code(raw(request(headers=f"Cookie: jeoul={token}\r\n"), guarded)) == 200, "the cookie opens")
check(code(raw(request(headers="Cookie: jeoul=1\r\n"), guarded)) == 401, "another cookie does not")
check(code(raw(request(path="/healthz"), guarded)) == 200 and code(raw(request(path="/metrics"), guarded)) == 401, "only health is open")
check(code(raw(request(host="evil.example", headers=f"Cookie: jeoul={token}\r\n"), guarded)) == 421, "another name, with the cookie")

# slow requests do not block others
slow = [socket.create_connection(("127.0.0.1", port_of(base))) for _ in range(200)]
for s in slow:
    s.sendall(b"POST /api/v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{")
begin = time.time()
for _ in range(20):
    check(ask("predict", CASE)[0] == 200, "beside slow ones")
check(time.time() - begin < 20 * SLOW, "slow ones hold up nobody")
for s in slow:
    s.close()

# searches of disconnected and of waiting clients block nobody else
body = json.dumps({"model": "gpt3-175b", "gpus": "8..65536", "kinds": "h100-sxm5,h200-sxm,a100-sxm4-80gb", "tokens": 1e12, "global-batch": 4096, "no-prune": True, "precision": "any", "framework": "any"}).encode()
searches = [socket.create_connection(("127.0.0.1", port_of(base))) for _ in range(8)]
for s in searches:
    s.sendall(request("POST", "/api/v1/plan", headers=JSON + f"Content-Length: {len(body)}\r\n", body=body))
time.sleep(0.5)
begin = time.time()
check(ask("infer", {"model": "llama-3-8b", "on": "dgx-h100"})[0] == 200 and time.time() - begin < 15 * SLOW, f"beside searches: {time.time() - begin:.1f} s")
for s in searches:
    s.close()
check(ask("plan", {"model": "gpt2-124m", "on": "2x rtx-4090", "global-batch": 16})[0] == 200 and time.time() - begin < 25 * SLOW, f"a search after those that nobody waits for: {time.time() - begin:.1f} s")

# expensive requests: latency of /healthz and short requests meanwhile, and how they end
n_fresh = 0


def fresh():
    """A short request that is in no cache."""
    global n_fresh
    n_fresh += 1
    return ask("predict", {**CASE, "batch": 1 + n_fresh % 64, "seq": 100 + n_fresh})


def longest_beside(questions, seconds):
    """Maximum latency of /healthz and a short request while `questions` run; they are then cancelled."""
    sockets = []
    for command, asked in questions:
        data = json.dumps(asked).encode()
        sockets.append(socket.create_connection(("127.0.0.1", port_of(base))))
        sockets[-1].sendall(request("POST", f"/api/v1/{command}", headers=JSON + f"Content-Length: {len(data)}\r\n", body=data))
    longest, end = 0.0, time.time() + seconds
    while time.time() < end:
        begin = time.time()
        check(code(raw(request(path="/healthz"), wait=30)) == 200, "healthz beside heavy questions")
        check(fresh()[0] == 200, "a short question beside heavy ones")
        longest = max(longest, time.time() - begin)
        time.sleep(0.02)
    for s in sockets:
        s.close()
    return longest


FREEZE = {"model": "gpt2-124m", "on": "rtx-4090", "with": "rtx-3090", "global-batch": 1000000000}
for name, questions in [("large global batches", [("predict", FREEZE)] * 4), ("fits", [("validate", {"leave-one-group-out": True})] * 3),
                        ("long answers", [("infer", {"model": "llama-3-8b", "on": "dgx-h100", "answer": 1000000, "rate": "100000/s"})] * 3)]:
    took = longest_beside(questions, 3)
    check(took < 2 * SLOW, f"beside {name}: {took:.2f} s")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gather_overflow.json"), "rb") as f:
    overflow = f.read()
answer = raw(request("POST", "/api/v1/flops", headers=JSON + f"Content-Length: {len(overflow)}\r\n", body=overflow))
check(code(answer) == 422, f"an axis beyond the rank: {answer[:80]}")
check(ask("predict", CASE)[0] == 200, "after an axis beyond the rank")

# slow headers on more connections than allowed: others are served, and the slow ones are closed
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
n_slow = min(4300, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200)
slow = []
for _ in range(n_slow):
    try:
        s = socket.create_connection(("127.0.0.1", port_of(base)), timeout=5)
        s.sendall(b"GET /healthz HTTP/1.1\r\nX-a: ")
        s.setblocking(False)
        slow.append(s)
    except OSError:
        pass
begin, longest = time.time(), 0.0
while time.time() - begin < 13:
    for s in slow:
        try:
            s.send(b"a")
        except OSError:
            pass
    asked = time.time()
    check(code(raw(request(path="/healthz"), wait=10)) == 200 and fresh()[0] == 200, "beside slow headers")
    longest = max(longest, time.time() - asked)
    time.sleep(0.5)
n_open = 0
for s in slow:
    try:
        n_open += s.recv(1) != b""
    except BlockingIOError:
        n_open += 1
    except OSError:
        pass
    s.close()
check(len(slow) > n_slow * 0.9 and longest < 5 * SLOW, f"beside {len(slow)} slow headers: {longest:.2f} s")
check(n_open == 0, f"{n_open} slow headers are still open after {time.time() - begin:.0f} s")
print(f"{len(slow)} slow headers: others wait {longest:.2f} s at most")

# nine kinds of hostile clients, JEOUL_HOSTILE in total; a regular client is served, and the server's memory stays small
def stranger(kind):
    data = [b"\x00\xff" * 50, b"", b"GET / HTTP/1.1\r\nHost: loc", request(host="evil.example"), request(path="/../../etc/passwd"), request(method="TRACE"), request(headers="X: " + "a" * 20000 + "\r\n"),
            request("POST", "/api/v1/predict", headers=JSON + "Content-Length: 3\r\n", body=b"{x}"), request("POST", "/api/v1/predict", headers=JSON + "Content-Length: 1073741824\r\n")][kind]
    with socket.create_connection(("127.0.0.1", port_of(base)), timeout=10) as s:
        try:
            s.sendall(data)
            if kind > 2:
                s.recv(100)
        except OSError:
            pass


n_strangers = int(os.environ.get("JEOUL_HOSTILE", "450"))
for i in range(90):
    stranger(i % 9)
before, began, longest, served = memory_kB(), time.time(), 0.0, 0
for i in range(n_strangers):
    stranger(i % 9)
    if i % 100 == 0:
        asked = time.time()
        served += ask("predict", CASE)[0] == 200
        longest = max(longest, time.time() - asked)
check(served == (n_strangers + 99) // 100, f"{served} answers beside {n_strangers} strangers")
check(memory_kB() - before < 20000, f"memory grew by {memory_kB() - before} kB over {n_strangers} strangers")
print(f"{n_strangers} strangers in {time.time() - began:.1f} s, {served} clients served (longest {longest:.2f} s), {before / 1000:.1f} -> {memory_kB() / 1000:.1f} MB")
metrics = urllib.request.urlopen(base + "/metrics").read().decode()
check('jeoul_refused_total{why="host"} ' in metrics and 'jeoul_requests_total{command="predict",end="ok"}' in metrics, "counted")
api = json.load(urllib.request.urlopen(base + "/api/v1/openapi.json"))
check(api["openapi"] == "3.1.0" and "batch" in api["paths"]["/api/v1/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"] and "/api/v1/bench/all" not in api["paths"], "OpenAPI")
print(f"{failed} failed" if failed else "all refused as they should be")
sys.exit(failed > 0)
