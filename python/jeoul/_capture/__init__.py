"""Captures what one step of a PyTorch program asks of its GPU, without a GPU: the file that every command of jeoul takes as MODEL.

    with jeoul.capture() as program:      # real models that exist count as on the GPU; they are left as they were
        step()
    program.save("step.jprog")

    jeoul.capture(model, batch, optimizer).save("step.jprog")

    python -m jeoul capture train.py      # a script that stays as it is
"""
from .front import capture
from .program import Program
from .state import CaptureError

__all__ = ["CaptureError", "Program", "capture"]
