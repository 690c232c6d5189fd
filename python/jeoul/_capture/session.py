"""A running capture: installs the replacements, records, and restores everything.

Knows the life cycle of a capture (enter, steps, exit); the neighbouring modules do the recording."""
import gc
import importlib
import importlib.metadata
import logging
import sys
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensor

from . import cuda, group
from .casts import Casts
from .caught import Caught
from .compiled import Compiled
from .function import Functions
from .record import Recorder
from .state import CPU, REAL, State

PACKAGES = ("torch", "transformers", "torchvision", "timm", "diffusers", "accelerate", "deepspeed", "torch_geometric")


class Session:
    """`with Session() as s:` captures the block. `mark_models`: treats existing real models as if on the GPU."""

    def __init__(self, title="program", mark_models=True, on_step=None, keep_forward=False, more=()):
        self.state = State(title)
        self.mark_models, self.on_step, self.keep_forward, self.more = mark_models, on_step, keep_forward, list(more)
        self.has_forward = self.libraries = False
        self.compiled = {}  # id of a module -> result of torch.compile
        self.undo = []
        self.modules, self.optimizer_states, self.grads = [], {}, []

    # --- enter and exit ----------------------------------------------------------------------------------------------------------

    def __enter__(self):
        if cuda.STATE:
            raise RuntimeError("a capture is running: captures do not nest")
        try:
            self.open()
        except BaseException:
            self.close()
            raise
        return self

    def open(self):
        state = self.state
        cuda.STATE.append(state)
        self.undo.append(cuda.STATE.pop)
        caught = Caught(state)
        self.recorder = Recorder(state, caught.table)
        self.functions = Functions(state, self.recorder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            casts = Casts(state)
            self.undo.append(casts.close)
            caught.open(self.recorder)
            self.undo.append(caught.close)
        self.patches = patches = cuda.Patches()
        self.undo.append(patches.undo)
        for owner, name, value in cuda.stand_ins() + cuda.autocast_parts() + cuda.picked_parts(state) + self.module_parts() + group.parts(self) + self.more:
            patches.put(owner, name, value)
        self.hook_optimizers()
        if hasattr(torch.backends, "mha"):
            fast = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)
            self.undo.append(lambda: torch.backends.mha.set_fastpath_enabled(fast))
        if self.mark_models:
            self.mark()
        log = logging.getLogger("torch._subclasses.fake_tensor")
        level = log.level
        log.setLevel(logging.CRITICAL)  # operators that cannot be captured are reported once by this module
        self.undo.append(lambda: log.setLevel(level))
        for mode in (self.recorder, self.functions):
            mode.__enter__()
            self.undo.append(lambda mode=mode: mode.__exit__(None, None, None))
        state.begin()

    def __exit__(self, *exception):
        if exception[0] is None and not self.state.finished:
            self.finish()
        self.close()
        return False

    def close(self):
        while self.undo:
            self.undo.pop()()
        self.restore()

    def finish(self):
        """The program: the last optimizer step, or everything if there was at most one."""
        program = self.state.finish()
        program.units = self.units()
        program.tf32 = int(torch.backends.cuda.matmul.allow_tf32)
        for package in PACKAGES:
            module = sys.modules.get(package)
            if module is not None and getattr(module, "__file__", None):
                version = getattr(module, "__version__", None)
                try:
                    version = version or importlib.metadata.version(package)
                except importlib.metadata.PackageNotFoundError:
                    version = "unknown"
                program.code.append((package, str(version).split()[0]))
        return program

    def finish_forward(self):
        """The last call of a model, for a script without an optimizer."""
        return self.finish()

    def units(self):
        """Samples (and tokens or images) in the calls of the model that the step calls most often."""
        totals = {}
        for root, counts in self.state.items:
            mine = totals.setdefault(root, {})
            for name, n in counts:
                mine[name] = mine.get(name, 0) + n
        return list(max(totals.values(), key=lambda t: t.get("samples", 0)).items()) if totals else []

    # --- modules and optimizers ----------------------------------------------------------------------------------------------------

    def module_parts(self):
        state = self.state
        module_call, new = torch.nn.Module.__call__, torch.nn.Parameter.__new__

        self.module_call = module_call

        def call(module, *args, **kwargs):
            if state.tracing:
                return module_call(module, *args, **kwargs)
            original = getattr(module, "_orig_mod", None)
            if isinstance(original, torch.nn.Module) and type(module).__name__ == "OptimizedModule":
                module = original
                self.compiled.setdefault(id(module), Compiled(self, module))
            if not state.stack:
                args, kwargs = self.top_level(module, args, kwargs)
            state.enter(module)
            try:
                compiled = self.compiled.get(id(module))
                if compiled is not None:
                    return compiled(*args, **kwargs)
                return module_call(module, *args, **kwargs)
            finally:
                state.leave()

        def parameter(cls, data=None, requires_grad=True):
            if type(data) in REAL and data.device.type == "cpu" and data.layout is torch.strided and data.numel():
                data = state.new(tuple(data.shape), data.dtype, CPU, tuple(data.stride()))
            return new(cls, data, requires_grad)

        def apply(module, fn, recurse=True):
            """A model is moved or cast: set-up, not part of a step. Recent PyTorch versions swap fake tensors here, which fails for weakly referenced
            ones; sets their data instead."""
            state.paused += 1
            try:
                for child in module.children() if recurse else ():
                    child._apply(fn)
                for p in module._parameters.values():
                    if p is not None:
                        with torch.no_grad():
                            p.data = fn(p)
                            if p.grad is not None:
                                p.grad.data = fn(p.grad)
                for name, b in module._buffers.items():
                    if b is not None:
                        module._buffers[name] = fn(b)
            finally:
                state.paused -= 1
            return module

        def scripted(function, *args, **kwargs):
            plain = getattr(function, "_torchdynamo_inline", None)
            return (plain or script_call.__get__(function))(*args, **kwargs)

        script_call = torch._C.ScriptFunction.__call__
        def compile_(model=None, **options):
            if model is None:
                return lambda m: compile_(m, **options)
            if not isinstance(model, torch.nn.Module):
                return Compiled(self, model)
            self.compiled.setdefault(id(model), Compiled(self, model))
            return model

        out = [(torch.nn.Module, "__call__", call), (torch.nn.Module, "_apply", apply), (torch.nn.Parameter, "__new__", staticmethod(parameter)),
               (torch.nn.RNNBase, "flatten_parameters", lambda module: None), (torch, "compile", compile_),
               (torch.nn.Module, "compile", lambda module, *args, **kwargs: compile_(module) and None),
               (torch._C.ScriptFunction, "__call__", scripted), (torch.jit, "script", lambda obj, *args, **kwargs: obj)]
        return out

    def answer_libraries(self):
        """Libraries imported during the capture: prevents them from treating fake tensors as tracing."""
        names = sys.modules.get("transformers.utils.import_utils")
        if names is not None and hasattr(names, "is_fake_tensor") and not self.libraries:
            self.libraries = True
            self.patches.put(names, "is_fake_tensor", lambda x: False)

    def top_level(self, module, args, kwargs):
        """Moves inputs of a model on the GPU there too, and counts samples."""
        state = self.state
        self.answer_libraries()
        on_gpu = any(state.is_gpu(p) for p in module.parameters())
        if on_gpu and self.keep_forward and not torch.is_grad_enabled() and not state.n_steps:
            state.begin()
        self.has_forward |= on_gpu

        def convert(x):
            if type(x) in REAL and on_gpu and x.device.type == "cpu" and x.dim() and state.find(x) is None:
                with torch._C.DisableTorchFunction():
                    fake = self.recorder.to_fake(x, "gpu", None)
                state.find(fake).kind = "input"
                if x.requires_grad:
                    fake = fake.detach().requires_grad_()
                return fake
            return x

        if self.mark_models and on_gpu:
            args, kwargs = torch.utils._pytree.tree_map(convert, (args, kwargs))
        first = next((x for x in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor) and x.dim()), None)
        images = args[0] if args and isinstance(args[0], (list, tuple)) else ()
        if images and all(isinstance(x, torch.Tensor) and x.dim() == 3 for x in images):  # detection models: a list of images
            state.items.append((id(module), [("samples", len(images)), ("images", len(images))]))
        elif first is not None:
            counts = [("samples", first.shape[0])]
            if first.dim() == 2 and not first.is_floating_point():
                counts.append(("tokens", first.numel()))
            elif first.dim() == 4 and first.shape[1] <= 4:
                counts.append(("images", first.shape[0]))
            state.items.append((id(module), counts))
        return args, kwargs

    def hook_optimizers(self):
        module = importlib.import_module("torch.optim.optimizer")
        state = self.state

        def before(optimizer, args, kwargs):
            state.optimizers.add(optimizer)
            if optimizer not in self.optimizer_states:
                self.optimizer_states[optimizer] = {p: dict(s) for p, s in optimizer.state.items()}
            state.in_update += 1

        def after(optimizer, args, kwargs):
            state.in_update -= 1
            state.after = "step"
            state.n_steps += 1
            state.mark_step(optimizer)
            if self.on_step is not None:
                self.on_step(self, optimizer)

        for handle in (module.register_optimizer_step_pre_hook(before), module.register_optimizer_step_post_hook(after)):
            self.undo.append(handle.remove)

    # --- real models ---------------------------------------------------------------------------------------------------------------

    def mark(self):
        """Treats parameters and buffers of all existing models as if on the GPU, and remembers how to restore them."""
        state = self.state
        for x in gc.get_objects():
            if not issubclass(type(x), torch.nn.Module) or "_parameters" not in x.__dict__:
                continue
            self.modules.append((x, dict(x._parameters), dict(x._buffers)))
            for t in (*x._parameters.values(), *x._buffers.values()):
                if type(t) in REAL and t.layout is torch.strided and t.device.type in ("cpu", "cuda") and t.numel():
                    self.grads.append((t, t.grad if t.is_leaf else None))
                    state.from_real(t)
                    if t.is_leaf and type(t.grad) in REAL:
                        state.from_real(t.grad)

    def restore(self):
        for module, parameters, buffers in self.modules:
            module._parameters.update(parameters)
            module._buffers.update(buffers)
        for tensor, grad in self.grads:
            if tensor.is_leaf and (isinstance(tensor.grad, FakeTensor) or tensor.grad is not grad):
                tensor.grad = grad
        if self.mark_models:
            for optimizer, states in self.optimizer_states.items():
                optimizer.state.clear()
                optimizer.state.update(states)
        self.modules, self.grads, self.optimizer_states = [], [], {}
