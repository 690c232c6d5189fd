#!/usr/bin/env python3
"""API responses must equal the command's output byte for byte, for N random requests (200). Usage: equal.py BASE [N]"""
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../show/request"))
import asking  # noqa: E402

wrong = answered = 0
n = int(sys.argv[2]) if len(sys.argv) > 2 else 200
for command, asked in asking.many(n, seed=8410):
    r = urllib.request.Request(f"{sys.argv[1]}/api/v1/{command.replace(' ', '/')}", data=json.dumps(asked).encode(), headers={"Content-Type": "application/json"})
    try:
        status, text = 200, urllib.request.urlopen(r, timeout=120).read()
    except urllib.error.HTTPError as e:
        status, text = e.code, e.read()
    done = subprocess.run([os.environ["JEOUL"], *asking.argv(command, asked)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if status == 200:
        same = asking.timeless(text) == asking.timeless(done.stdout) and done.returncode in (0, 3)
        answered += 1
    else:
        same = status == {1: 422, 2: 400}.get(done.returncode) and done.stderr.decode() == "jeoul: %s\n" % json.loads(text)["error"]["text" if asked.get("lang") == "ko" else "en"]
    if not same:
        wrong += 1
        print("differs:", command, asked, status, text[:200], done.stderr[:200])
print("%d answers equal, %d refusals equal, %d differ" % (answered, n - answered - wrong, wrong))
sys.exit(wrong > 0 or answered < 0.6 * n)
