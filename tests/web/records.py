"""records.py N: N results in the format of `jeoul store export`: a few kinds measured repeatedly, in place and out of place at the same time."""
import json
import sys

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(time_ms, number):
    value, text = time_ms << 80 | number, ""
    for _ in range(26):
        text, value = CROCKFORD[value & 31] + text, value >> 5
    return text


def metric(name, value, **more):
    return {"name": name, **more, "n": 20, "median": value, "mean": value, "min": 0.97 * value, "max": 1.03 * value, "p95": 1.02 * value,
            "lo95": 0.98 * value, "hi95": 1.02 * value}


def record(i):
    kind, time_s = i // 2 % 8, 1794000000 + i // 2 * 60 + 0.25  # both halves of a pair within the same second
    size_B, in_place = 1 << (12 + 2 * kind), i % 2
    rate_Bps = 1e9 * (kind + 1) * (1.1 if in_place else 1.0) * (1 + 0.03 * ((i * 7919) % 13 - 6) / 6)
    return {"record_version": 1, "id": ulid(int(1000 * time_s), i), "time_s": time_s, "kind": "allreduce", "backend": "shm", "origin": "measured",
            "machine": "65d9217a27346e14", "machine_name": "2x test, 24 GiB, no GPU", "run": ulid(int(1000 * time_s), 1 << 40),
            "params": {"size_B": size_B, "count": size_B // 4, "dtype": "float", "redop": "sum", "root": -1, "n_ranks": 2, "in_place": in_place,
                       "n_warmup": 10 + i % 5, "n_unsteady": 0, "n_outliers": i % 3, "n_wrong": 0},
            "metrics": [metric("algbw_Bps", rate_Bps), metric("busbw_Bps", rate_Bps), metric("time_s", size_B / rate_Bps, less_is_better=True)],
            "versions": {"jeoul": "0.2.0"}, "samples_s": [size_B / rate_Bps * (1 + 0.001 * k) for k in range(20)]}


for number in range(int(sys.argv[1])):
    print(json.dumps(record(number)))
