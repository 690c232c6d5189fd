"""Records of a made-up machine as JSON Lines, for the tests of `jeoul check` and `jeoul calibrate`.

check_records.py FINGERPRINT KIND:VALUE[:OPTION]... prints one record for each; each is a run of its own, later ones are newer.
KIND: gemm (GFLOP/s), triad (GB/s), gpu-gemm (TFLOP/s, bf16), gpu-triad (GB/s), gpu-h2d (GB/s), nccl (GB/s algbw, 1 GiB on 8 ranks);
what the model has no rate for: gpu-pageable, gpu-within (copies from ordinary memory, inside a GPU; GB/s), nccl-alone (one rank).
OPTION: noisy.
"""
import json
import sys

KINDS = {
    "gemm": ("gemm", "cpu", {"dtype": "fp32", "m": 2048, "n": 2048, "k": 2048, "n_threads": 2}, "gemm_flopps", 1e9),
    "triad": ("memory", "cpu", {"test": "triad", "size_B": 134217728, "n_threads": 2}, "mem_Bps", 1e9),
    "gpu-gemm": ("gemm", "cuda", {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192, "device": 0}, "gemm_flopps", 1e12),
    "gpu-triad": ("memory", "cuda", {"test": "triad", "size_B": 1073741824, "device": 0}, "mem_Bps", 1e9),
    "gpu-h2d": ("link", "cuda", {"test": "h2d", "size_B": 268435456, "pinned": 1, "device": 0}, "link_Bps", 1e9),
    "nccl": ("allreduce", "nccl", {"size_B": 1073741824, "dtype": "float", "redop": "sum", "root": -1, "n_ranks": 8, "in_place": 0},
             "algbw_Bps", 1e9),
    "gpu-pageable": ("link", "cuda", {"test": "h2d", "size_B": 268435456, "pinned": 0, "device": 0}, "link_Bps", 1e9),
    "gpu-within": ("link", "cuda", {"test": "d2d", "size_B": 268435456, "peer": 0, "device": 0}, "link_Bps", 1e9),
    "nccl-alone": ("allreduce", "nccl", {"size_B": 1073741824, "dtype": "float", "redop": "sum", "root": -1, "n_ranks": 1, "in_place": 0},
                   "algbw_Bps", 1e9),
}


def main():
    for i, item in enumerate(sys.argv[2:]):
        word, value, *options = item.split(":")
        kind, backend, params, metric, unit = KINDS[word]
        rate = float(value) * unit
        name = "%02d" % i
        print(json.dumps({
            "record_version": 1, "id": "01M7EZ" + name + "0" * 16 + name, "time_s": 1794725087.0 + i, "kind": kind, "backend": backend,
            "origin": "measured", "machine": sys.argv[1], "machine_name": "made up", "run": "01M7EZ" + name + "0000000000000000RR",
            "params": params,
            "metrics": [{"name": metric, "n": 20, "median": rate, "lo95": rate * 0.99, "hi95": rate * 1.01}],
            "samples_s": [(1 + 0.0005 * k) * 1e9 / rate for k in range(20)],
            "noise": {"noisy": "noisy" in options, **({"why": "made up"} if "noisy" in options else {})},
        }))


main()
