"""Records the GPU operations of one step of a PyTorch program, without a GPU, in a file that every command of jeoul accepts as MODEL.

    with jeoul.capture() as program:      # existing models are treated as if on the GPU, and restored afterwards
        step()
    program.save("step.jprog")

    jeoul.capture(model, batch, optimizer).save("step.jprog")

    python -m jeoul capture train.py      # an unmodified script
"""
from .front import capture
from .program import Program
from .state import CaptureError

__all__ = ["CaptureError", "Program", "capture"]
