#!/usr/bin/env python3
"""What libjeoul answers is, to the byte, what the command prints: for 200 random requests, and for those that fail the same line."""
import ctypes
import json
import os
import subprocess
import sys

import asking

lib = ctypes.CDLL(os.path.join(os.environ["JEOUL_BUILD"], "libjeoul.so"))


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 640)]


lib.jeoul_open.restype = ctypes.c_void_p
lib.jeoul_ask.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Error)]
lib.jeoul_free.argtypes = [ctypes.c_void_p]
lib.jeoul_close.argtypes = [ctypes.c_void_p]
handle = lib.jeoul_open(None, None)
wrong = answered = 0
for command, asked in asking.many(int(sys.argv[1]) if len(sys.argv) > 1 else 200):
    answer, error = ctypes.c_void_p(), Error()
    status = lib.jeoul_ask(handle, command.encode(), json.dumps(asked).encode(), ctypes.byref(answer), ctypes.byref(error))
    done = subprocess.run([os.environ["JEOUL"], *asking.argv(command, asked)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if status in (0, 5):
        same = asking.timeless(ctypes.string_at(answer.value)) == asking.timeless(done.stdout) and done.returncode == (3 if status else 0)
        answered += 1
    else:
        same = done.returncode in (1, 2) and done.stderr.decode() == "jeoul: %s\n" % error.text.decode()
    if not same:
        wrong += 1
        print("differs:", command, asked, status, error.text.decode(), done.returncode, done.stderr.decode()[:300])
    lib.jeoul_free(answer)
lib.jeoul_close(handle)
print("%d answers equal, %d refusals equal, %d differ" % (answered, 200 - answered - wrong, wrong))
sys.exit(wrong > 0 or answered < 120)
