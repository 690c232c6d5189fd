"""Runs an unmodified script up to the requested step and writes its program file: `python -m jeoul capture`.

Knows scripts, arguments and exits; session.py does the capture."""
import argparse
import linecache
import os
import runpy
import signal
import sys
import traceback

from .session import Session
from .state import CaptureError

DEFAULT_TIMEOUT_S = 600


class Done(BaseException):
    """Raised when the step is captured, to leave the script."""


class TooLong(BaseException):
    pass


class Watch:
    """Counts optimizer steps; keeps the last forward pass of a script without an optimizer."""

    def __init__(self, step):
        self.step = step
        self.program = None

    def on_step(self, session, optimizer):
        if session.state.n_rounds() >= self.step:
            self.program = session.finish()
            raise Done


def alone():
    """[(owner, name, replacement)]: loads data in this process, so that no child process remains."""
    from torch.utils.data import DataLoader
    init = DataLoader.__init__

    def single(self, *args, **kwargs):
        if len(args) > 5:
            args = (*args[:5], 0, *args[6:])
        elif "num_workers" in kwargs:
            kwargs["num_workers"] = 0
        for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout", "worker_init_fn"):
            kwargs.pop(name, None)
        init(self, *args, **kwargs)

    return [(DataLoader, "__init__", single)]


def script_line(error, path):
    """The innermost line of the script in a traceback: "train.py:12: loss = …"."""
    frames = traceback.extract_tb(error.__traceback__)
    mine = [f for f in frames if os.path.abspath(f.filename) == os.path.abspath(path)] or frames[-1:]
    if not mine:
        return path
    return "%s:%d: %s" % (mine[-1].filename, mine[-1].lineno, (mine[-1].line or linecache.getline(mine[-1].filename, mine[-1].lineno)).strip())


def fail(text):
    sys.stderr.write("jeoul capture: %s\n" % text)
    return 1


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m jeoul capture", description="Run SCRIPT without a GPU until one step is captured, and write what it asks of the device.")
    parser.add_argument("-o", "--output", metavar="FILE", help="the program file (default: SCRIPT's name with .jprog)")
    parser.add_argument("--step", type=int, default=2, metavar="N", help="the optimizer step to record (default 2: its states exist by then)")
    parser.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT_S, metavar="SECONDS", help="give up after this time (default %d)" % DEFAULT_TIMEOUT_S)
    parser.add_argument("--world", type=int, default=1, metavar="N", help="processes that the script believes to be one of, as torchrun would tell it (default 1)")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS", help="arguments of the script")
    options = parser.parse_args(arguments)
    if options.step < 1:
        parser.error("--step %d: the first step is 1" % options.step)
    if not 1 <= options.world <= 1 << 20:
        parser.error("--world %d: 1 or more" % options.world)
    if not os.path.isfile(options.script):
        parser.error("%s: no such script" % options.script)
    return options


def run(options, session, watch):
    """Run the script; returns an error line or None."""
    if options.world > 1:
        os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE=str(options.world), LOCAL_WORLD_SIZE=str(options.world), MASTER_ADDR="localhost", MASTER_PORT="29500")
    sys.argv = [options.script, *options.args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(options.script)))
    try:
        runpy.run_path(options.script, run_name="__main__")
    except Done:
        return None
    except TooLong:
        return "no step %d after %g s: raise --timeout, or give the script less to do before it trains" % (options.step, options.timeout)
    except SystemExit as e:
        if watch.program is None and e.code not in (None, 0):
            return "the script left with %s before step %d" % (e.code, options.step)
    except KeyboardInterrupt:
        return "interrupted"
    except CaptureError as e:
        return "%s: %s" % (script_line(e, options.script), e)
    except BaseException as e:
        if os.environ.get("JEOUL_CAPTURE_TRACE"):
            traceback.print_exc()
        text = " ".join(str(e).split())[:300]
        return "%s: %s%s (JEOUL_CAPTURE_TRACE=1 shows the whole trace)" % (script_line(e, options.script), type(e).__name__, ": " + text if text else "")
    return None


def main(arguments):
    options = parse(arguments)
    watch = Watch(options.step)
    session = Session(os.path.basename(options.script), mark_models=False, on_step=watch.on_step, keep_forward=True, more=alone())
    if hasattr(signal, "SIGALRM") and options.timeout > 0:
        def too_long(signum, frame):
            raise TooLong
        signal.signal(signal.SIGALRM, too_long)
        signal.setitimer(signal.ITIMER_REAL, options.timeout)
    try:
        with session:
            error = run(options, session, watch)
            if error is None and watch.program is None:
                if session.state.n_steps:
                    error = "the script took %d optimizer steps, fewer than --step %d: let it run longer or ask for an earlier step" % (session.state.n_steps, options.step)
                elif not session.has_forward:
                    error = "%s ran no model and no optimizer on the device: is the model moved to \"cuda\"?" % options.script
                else:
                    watch.program = session.finish_forward()
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.setitimer(signal.ITIMER_REAL, 0)
    if error:
        return fail(error)
    output = options.output or os.path.splitext(os.path.basename(options.script))[0] + ".jprog"
    try:
        watch.program.save(output)
    except OSError as e:
        return fail("%s: %s" % (output, e.strerror))
    sys.stderr.write("%s\n%s\n" % (watch.program, output))
    return 0
