"""python -m jeoul capture SCRIPT [ARGS]: records the device operations of one step of a PyTorch script. python -m jeoul host: times a small step on
this machine. Needs PyTorch, not libjeoul."""
import sys

USAGE = "usage: python -m jeoul capture [-o FILE] [--step N] [--timeout SECONDS] [--world N] SCRIPT [ARGS]\n       python -m jeoul host"


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(USAGE)
        return 0 if len(sys.argv) > 1 else 2
    if sys.argv[1] not in ("capture", "host"):
        sys.stderr.write("python -m jeoul: %s is no command here: capture and host are; the others are the program jeoul\n" % sys.argv[1])
        return 2
    try:
        import torch
    except ImportError:
        sys.stderr.write("python -m jeoul: PyTorch is not installed for %s: pip install torch (the build for CPUs will do)\n" % sys.executable)
        return 1
    if sys.argv[1] == "host":
        from ._host import main as host
        return host()
    version = tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2])
    if version < (2, 4):
        sys.stderr.write("jeoul capture: PyTorch %s is too old: 2.4 or newer is needed\n" % torch.__version__)
        return 1
    from ._capture.script import main as capture
    return capture(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
