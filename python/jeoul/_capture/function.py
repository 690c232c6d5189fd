"""Answers as if tensors were on CUDA: their device, and moves to and from it. No CUDA tensor is ever created.

Knows the functions of torch that take or return a device; record.py records the resulting operations."""
from types import FunctionType

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode

from . import guess
from .state import CPU, GPU, CaptureError

CUDA0 = torch.device("cuda", 0)
TENSOR = torch.Tensor


def device_type(device):
    """"cuda", "cpu", "meta", … from any device argument; None for None."""
    if device is None:
        return None
    if isinstance(device, torch.device):
        return device.type
    if isinstance(device, int):
        return "cuda"
    return str(device).partition(":")[0]


CHECKS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


def body_of(func):
    """A torch function written in Python, without its check for modes: the mode stays active for its inner calls."""
    names = func.__code__.co_names
    if "super" in names or not any(name in names and name in func.__globals__ for name in CHECKS):  # super() would end up here again
        return func
    known = {**func.__globals__, **dict.fromkeys(CHECKS, lambda *args: False)}
    body = FunctionType(func.__code__, known, func.__name__, func.__defaults__, func.__closure__)
    body.__kwdefaults__ = func.__kwdefaults__
    return body


class Move(torch.autograd.Function):
    """An autograd-aware copy between host and device."""

    @staticmethod
    def forward(ctx, mode, x, place, dtype, non_blocking, memory_format):
        ctx.mode, ctx.back, ctx.dtype = mode, (CPU if place == GPU else GPU), x.dtype
        return mode.move(x, place, dtype, non_blocking, memory_format)

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.mode.move(grad, ctx.back, ctx.dtype, False, None), None, None, None, None


class Functions(TorchFunctionMode):
    def __init__(self, state, recorder):
        super().__init__()
        self.state, self.recorder = state, recorder
        self.handlers = handlers()
        self.bodies = {}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        handler = self.handlers.get(func)
        if handler is not None:
            return handler(self, func, args, kwargs)
        if isinstance(func, FunctionType):
            body = self.bodies.get(func)
            if body is None:
                body = self.bodies[func] = body_of(func)
            if body is not func:
                with self:
                    return body(*args, **kwargs)
        state = self.state
        before = state.want
        device = kwargs.get("device")
        if device is not None:
            kind = device_type(device)
            if kind == "cuda":
                kwargs = {**kwargs, "device": "cpu"}
                state.want = GPU
            else:
                state.want = CPU
        else:
            state.want = GPU if self.any_gpu(args, kwargs) else CPU
        try:
            return func(*args, **kwargs)
        finally:
            state.want = before

    def any_gpu(self, args, kwargs):
        is_gpu = self.state.is_gpu
        for x in args:
            if isinstance(x, torch.Tensor):
                if is_gpu(x):
                    return True
            elif isinstance(x, (list, tuple)) and x and any(isinstance(y, torch.Tensor) and is_gpu(y) for y in x):
                return True
        return bool(kwargs) and any(isinstance(x, torch.Tensor) and is_gpu(x) for x in kwargs.values())

    # --- moves -----------------------------------------------------------------------------------------------------------------

    def place_of(self, x):
        record = self.state.find(x)
        return CPU if record is None else record.place

    def to(self, x, place, dtype=None, non_blocking=False, copy=False, memory_format=None):
        here = self.place_of(x)
        if place is None or place == here or (place == CPU and here == CPU):
            if dtype is None and memory_format is None and not copy:
                return x
            options = {"memory_format": memory_format} if memory_format is not None else {}
            return x.to(dtype=dtype or x.dtype, copy=copy, **options)
        if x.requires_grad and torch.is_grad_enabled():
            return Move.apply(self, x, place, dtype, non_blocking, memory_format)
        with torch.no_grad():
            return self.move(x, place, dtype, non_blocking, memory_format)

    def move(self, x, place, dtype, non_blocking, memory_format):
        state = self.state
        with torch._C.DisableTorchFunction():
            dtype = dtype or x.dtype
            if x.layout is not torch.strided:
                raise CaptureError("sparse tensors cannot be moved to the device in a capture: write the step with dense ones")
            known = guess.value(self.recorder, x)
            strides = torch.empty_like(torch.empty_strided(tuple(x.shape), tuple(x.stride()), device="meta"),
                                       memory_format=memory_format or torch.preserve_format).stride()
            pinned = place == GPU and self.is_pinned(x)
            if place == CPU and known is not None and not x.requires_grad:
                self.copied(x, x, "d2h", False, dtype)
                return known.to(dtype).clone()
            out = state.new(tuple(x.shape), dtype, place, strides)
            record = state.find(out)
            if known is not None and not x.requires_grad:
                out._jl_value = known.detach().to(dtype).clone()
            share = guess.hint(x)
            if share is not None:
                out._jl_share = share
            if place == GPU:
                state.inputs_begin(is_copy=True)
                record.kind = "input"
                self.copied(out, out, "h2d", pinned, dtype, non_blocking and pinned)
            else:
                self.copied(x, out, "d2h", False, dtype, non_blocking)
            return out

    def copied(self, source, target, kind, pinned, dtype, unseen=False):
        if target.numel():
            self.recorder.emit("jeoul.copy", (source,), (target,), kind=kind, pinned=pinned)
            if not unseen:
                self.state.wait("copy")

    def is_pinned(self, x):
        record = self.state.find(x)
        if record is not None:
            return record.pinned
        return x in self.state.pinned

    def parse(self, args, kwargs):
        """(device, dtype, non_blocking, copy, memory_format) of the arguments of Tensor.to."""
        kwargs = dict(kwargs)
        device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
        other = kwargs.pop("other", None)
        flags = []
        for a in args:
            if isinstance(a, torch.Tensor):
                other = a
            elif isinstance(a, torch.dtype):
                dtype = a
            elif isinstance(a, bool):
                flags.append(a)
            elif a is not None:
                device = a
        if other is not None:
            place, dtype = self.place_of(other), other.dtype
        else:
            kind = device_type(device)
            place = {None: None, "cuda": GPU, "cpu": CPU}.get(kind, kind)
        flags += [False] * (2 - len(flags))
        return place, dtype, kwargs.pop("non_blocking", flags[0]), kwargs.pop("copy", flags[1]), kwargs.pop("memory_format", None)


def handlers():
    """{function of torch: handler(mode, func, args, kwargs)}"""
    table = {}

    def handles(*functions):
        def add(handler):
            for f in functions:
                if f is not None:
                    table[f] = handler
            return handler
        return add

    @handles(TENSOR.device.__get__)
    def _(mode, func, args, kwargs):
        return CUDA0 if mode.state.is_gpu(args[0]) else func(*args)

    @handles(TENSOR.is_cuda.__get__)
    def _(mode, func, args, kwargs):
        return mode.state.is_gpu(args[0])

    @handles(TENSOR.is_cpu.__get__)
    def _(mode, func, args, kwargs):
        return not mode.state.is_gpu(args[0]) and func(*args)

    @handles(TENSOR.get_device)
    def _(mode, func, args, kwargs):
        return 0 if mode.state.is_gpu(args[0]) else -1

    @handles(TENSOR.to)
    def _(mode, func, args, kwargs):
        place, dtype, non_blocking, copy, memory_format = mode.parse(args[1:], kwargs)
        if place not in (None, GPU, CPU):
            return func(*args, **kwargs)
        if place is None or (place == CPU and mode.state.find(args[0]) is None):
            return func(*args, **kwargs)
        return mode.to(args[0], place, dtype, non_blocking, copy, memory_format)

    @handles(TENSOR.cuda)
    def _(mode, func, args, kwargs):
        return mode.to(args[0], GPU, None, kwargs.get("non_blocking", len(args) > 2 and args[2]), False, kwargs.get("memory_format"))

    @handles(TENSOR.cpu)
    def _(mode, func, args, kwargs):
        return func(*args, **kwargs) if mode.state.find(args[0]) is None else mode.to(args[0], CPU, None, False, False, kwargs.get("memory_format"))

    @handles(TENSOR.pin_memory)
    def _(mode, func, args, kwargs):
        record = mode.state.find(args[0])
        if record is not None:
            record.pinned = True
        else:
            mode.state.pinned[args[0]] = True
        return args[0]

    @handles(TENSOR.is_pinned)
    def _(mode, func, args, kwargs):
        return mode.is_pinned(args[0])

    @handles(TENSOR.record_stream)
    def _(mode, func, args, kwargs):
        return None

    @handles(torch.tensor, torch.as_tensor, torch.asarray, torch.scalar_tensor)
    def _(mode, func, args, kwargs):
        kind = device_type(kwargs.get("device"))
        if kind == "meta":
            return func(*args, **kwargs)
        kwargs = {k: v for k, v in kwargs.items() if k != "device"}
        source = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        before, mode.state.want = mode.state.want, CPU
        try:
            if isinstance(source, (list, tuple)) and source and any(isinstance(x, FakeTensor) for x in source):
                made = torch.stack([x if isinstance(x, torch.Tensor) else torch.tensor(x) for x in source])
                made = made.to(kwargs["dtype"]) if kwargs.get("dtype") else made
            elif isinstance(source, FakeTensor):
                made = source.detach().clone() if func is torch.tensor else source
                made = made.to(kwargs["dtype"]) if kwargs.get("dtype") else made
            else:
                made = func(*args, **{k: v for k, v in kwargs.items() if k != "requires_grad"})
        finally:
            mode.state.want = before
        if kind is not None:
            made = mode.to(made, GPU if kind == "cuda" else CPU)
        return made.requires_grad_() if kwargs.get("requires_grad") else made

    @handles(TENSOR.backward)
    def _(mode, func, args, kwargs):
        names = ("self", "gradient", "retain_graph", "create_graph", "inputs")
        given = {**dict(zip(names, args)), **kwargs}
        before, mode.state.want = mode.state.want, None
        try:
            with mode:
                return torch.autograd.backward(given["self"], given.get("gradient"), given.get("retain_graph"), given.get("create_graph", False),
                                               inputs=given.get("inputs"))
        finally:
            mode.state.want = before

    @handles(TENSOR.tolist)
    def _(mode, func, args, kwargs):
        if mode.state.find(args[0]) is None:
            return func(*args)
        if mode.state.is_gpu(args[0]):
            mode.state.wait("item")
        return guess.read(mode.state, mode.recorder, args[0], "tolist()").tolist()

    @handles(TENSOR.numpy, TENSOR.__array__)
    def _(mode, func, args, kwargs):
        if mode.state.find(args[0]) is None:
            return func(*args, **kwargs)
        return func(guess.read(mode.state, mode.recorder, args[0].detach(), "numpy()").clone(), *args[1:], **kwargs)

    @handles(TENSOR.data_ptr)
    def _(mode, func, args, kwargs):
        record = mode.state.find(args[0])
        return func(*args) if record is None else (record.id << 40) + args[0].storage_offset() * args[0].element_size()

    @handles(TENSOR.type)
    def _(mode, func, args, kwargs):
        to = args[1] if len(args) > 1 else kwargs.get("dtype")
        if isinstance(to, str) and "cuda" in to:
            return mode.to(args[0], GPU, TYPES[to.rpartition(".")[2]])
        if to is None and mode.state.is_gpu(args[0]):
            return func(*args).replace("torch.", "torch.cuda.")
        return func(*args, **kwargs)

    @handles(TENSOR.copy_)
    def _(mode, func, args, kwargs):
        target, source = args[0], args[1] if len(args) > 1 else kwargs["src"]
        state = mode.state
        here, there = state.is_gpu(target), isinstance(source, torch.Tensor) and state.is_gpu(source)
        if here == there or not isinstance(source, torch.Tensor) or (here and source.dim() == 0 and state.find(source) is None):
            before, state.want = state.want, GPU if here else CPU
            try:
                return func(*args, **kwargs)
            finally:
                state.want = before
        non_blocking = kwargs.get("non_blocking", args[2] if len(args) > 2 else False)
        if here:
            pinned = mode.is_pinned(source)
            mode.copied(target.detach(), target.detach(), "h2d", pinned, target.dtype, non_blocking and pinned)
        else:
            mode.copied(source.detach(), source.detach(), "d2h", mode.is_pinned(target), target.dtype, non_blocking)
        return target

    return table


TYPES = {"FloatTensor": torch.float32, "DoubleTensor": torch.float64, "HalfTensor": torch.float16, "BFloat16Tensor": torch.bfloat16,
         "LongTensor": torch.int64, "IntTensor": torch.int32, "ShortTensor": torch.int16, "CharTensor": torch.int8, "ByteTensor": torch.uint8,
         "BoolTensor": torch.bool}
