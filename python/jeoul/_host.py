"""Measures how fast this host runs PyTorch: forward and backward of an 8 x 8 linear layer, whose GPU time is negligible."""
import statistics
import sys
import time

CALLS, GROUPS = 300, 6


def step_s():
    """Seconds per call until the host is free; median over groups after the first."""
    import torch

    x, weight = torch.zeros(8, 8, device="cuda"), torch.zeros(8, 8, device="cuda", requires_grad=True)
    took = []
    for _ in range(GROUPS):
        torch.cuda.synchronize()
        from_s = time.perf_counter()
        for _ in range(CALLS):
            torch.nn.functional.linear(x, weight).sum().backward()
        took.append((time.perf_counter() - from_s) / CALLS)
    torch.cuda.synchronize()
    return statistics.median(took[1:])


def main():
    import torch

    if not torch.cuda.is_available():
        sys.stderr.write("jeoul host: PyTorch %s sees no GPU here: run it on the machine that trains\n" % torch.__version__)
        return 1
    us = 1e6 * step_s()
    print("a small step takes the host %.0f us (%s, PyTorch %s)" % (us, torch.cuda.get_device_name(), torch.__version__))
    print("jeoul predict PROGRAM.jprog --on SYSTEM --host-step '%.0f us'" % us)
    return 0
