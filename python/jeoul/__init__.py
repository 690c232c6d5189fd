"""jeoul: GPU systems weighed. Every command of the program that answers a question is a function here, with its options as keywords.

    import jeoul
    p = jeoul.predict("llama-3-8b", on="8x h100-sxm5", batch=1)
    p.step_s.value, p.step_s.lo, p.step_s.hi    # seconds, 80 % interval
    p.bound_by, p.memory_B.total, p.to_dict()
    jeoul.predict("gpt-305m", on="10x rtx-3090", sweep="gpus=1,2,4,8,10").to_frame()
"""
from . import commands, results
from ._library import AmbiguousError, Jeoul, JeoulError, NotFoundError, UsageError, __version__
from ._result import Estimate, Record, Result
from ._sweep import Sweep, sweep
from ._watch import Watched, watch
from .commands import *  # noqa: F403

__all__ = ["AmbiguousError", "Estimate", "Jeoul", "JeoulError", "NotFoundError", "Record", "Result", "Sweep", "UsageError", "Watched",
           "__version__", "commands", "results", "sweep", "watch", *commands.__all__]
