"""jeoul: evaluates GPU systems. Each command of the program that answers a question is a function here, with its options as keyword arguments.

    import jeoul
    p = jeoul.predict("llama-3-8b", on="8x h100-sxm5", batch=1)
    p.step_s.value, p.step_s.lo, p.step_s.hi    # seconds, 80 % interval
    p.bound_by, p.memory_B.total, p.to_dict()
    jeoul.predict("gpt-305m", on="10x rtx-3090", sweep="gpus=1,2,4,8,10").to_frame()

jeoul.capture records the GPU operations of a PyTorch program; it needs PyTorch, but not libjeoul."""
import importlib

# module of each name; loaded on first access, so that a capture needs neither libjeoul nor the generated modules
_HOMES = {"AmbiguousError": "_library", "Jeoul": "_library", "JeoulError": "_library", "NotFoundError": "_library", "UsageError": "_library",
          "__version__": "_library", "Estimate": "_result", "Record": "_result", "Result": "_result", "Sweep": "_sweep", "sweep": "_sweep",
          "Watched": "_watch", "watch": "_watch", "CaptureError": "_capture", "Program": "_capture", "capture": "_capture"}


def __getattr__(name):
    home = _HOMES.get(name)
    if home is not None:
        value = getattr(importlib.import_module("." + home, __name__), name)
    elif name in ("commands", "results"):
        value = importlib.import_module("." + name, __name__)
    elif name == "__all__":
        value = sorted([*(n for n, home in _HOMES.items() if home != "_capture"), "commands", "results", *importlib.import_module(".commands", __name__).__all__])
    elif name.startswith("_"):
        raise AttributeError("module 'jeoul' has no attribute %r" % name)
    else:
        commands = importlib.import_module(".commands", __name__)
        if name not in commands.__all__:
            raise AttributeError("module 'jeoul' has no attribute %r" % name)
        value = getattr(commands, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOMES, *__getattr__("__all__")})
