"""The two public ways to start a capture from Python."""
import torch

from .session import Session
from .state import CaptureError


class Capture:
    """`with jeoul.capture() as program:`; of several optimizer steps in the block, the last one is kept."""

    def __init__(self, title="program"):
        self.session = Session(title)

    def __enter__(self):
        self.session.__enter__()
        return self.session.state.program

    def __exit__(self, *exception):
        return self.session.__exit__(*exception)


def loss_of(out, program):
    """The scalar for backward: the model's loss."""
    if isinstance(out, torch.Tensor):
        if out.dim() == 0:
            return out
        program.assume("the loss is the mean of the output")
        return out.float().mean()
    loss = getattr(out, "loss", None) if not isinstance(out, dict) else out.get("loss")
    if loss is not None:
        return loss
    parts = list(out.values()) if isinstance(out, dict) else list(out) if isinstance(out, (list, tuple)) else []
    scalars = [x for x in parts if isinstance(x, torch.Tensor) and x.dim() == 0 and x.is_floating_point()]
    if scalars:
        return sum(scalars)
    first = next((x for x in parts if isinstance(x, torch.Tensor) and x.is_floating_point()), None)
    if first is None:
        raise CaptureError("the model's output has no loss: give loss=, a function of (output, batch)")
    program.assume("the loss is the mean of the output")
    return first.float().mean()


def capture(model=None, batch=None, optimizer=None, loss=None, steps=2, title=None):
    """Without a model: a context manager that records the block. With a model: records the last of `steps` steps of `model` on `batch`.

    batch: a tensor, a tuple or list (positional arguments) or a dict (keyword arguments). optimizer: its step is included; without optimizer and loss
    only the forward pass is recorded. loss: a function of (output, batch)."""
    if model is None:
        return Capture(title or "program")
    session = Session(title or type(model).__name__)
    with session:
        for i in range(max(steps, 1)):
            if optimizer is None or i == 0:
                session.state.begin()
            if isinstance(batch, dict):
                args, kwargs = (), batch
            else:
                args, kwargs = (tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)), {}
            if optimizer is None and loss is None:
                with torch.no_grad():
                    model(*args, **kwargs)
                continue
            if optimizer is not None:
                optimizer.zero_grad()
            out = model(*args, **kwargs)
            value = loss(out, batch) if loss is not None else loss_of(out, session.state.program)
            value.backward()
            if optimizer is not None:
                optimizer.step()
            del out, value
    return session.state.program


