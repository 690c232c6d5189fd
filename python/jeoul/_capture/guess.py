"""Data-dependent values: exact where known (small tensors of known origin keep their values), otherwise stated assumptions.

Must not know scripts or models: assumptions follow from the operators that created a tensor."""
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_flatten, tree_unflatten

from .state import GPU, REAL, SHADOW_MAX, CaptureError

NOT = object()  # marks operators that do not depend on data
aten = torch.ops.aten
PARAMETER_MIN_B = 1 << 22
UNIQUE_MAX = 128
SMALL_BOUND = 0.01
LABELLED = 0.25


def is_parameter(shape):
    """True if a large torch.empty belongs to a module under construction: its memory is never touched."""
    n = 1
    for dim in shape:
        n *= dim
    if n * 4 < PARAMETER_MIN_B:
        return False
    frame = sys._getframe(3)
    for _ in range(16):
        if frame is None:
            return False
        if isinstance(frame.f_locals.get("self"), torch.nn.Module):
            return True
        frame = frame.f_back
    return False


# --- values of small tensors -------------------------------------------------------------------------------------------------------

def value(recorder, x):
    """The values of a small tensor, or None."""
    if not isinstance(x, FakeTensor):
        return x if x.numel() <= SHADOW_MAX and type(x) in REAL else None
    known = getattr(x, "_jl_value", None)
    if known is None:
        return None
    record = recorder.state.find(x)
    return known if record is not None and record.known else None


def follow(recorder, func, kind, args, kwargs, tensors, outs, spec, flat):
    """Values and shares of an operator's outputs, if those of its inputs are known."""
    values = [value(recorder, x) for x in tensors]
    large = not kind.no_kernel and any(x.numel() > SHADOW_MAX for x in outs)
    if any(v is None for v in values) or large:
        if kind.is_mutable:
            for x in outs:
                record = recorder.state.find(x)
                if record is not None:
                    record.known = False
        elif large and kind.base in KEEPS and values and values[0] is not None and not values[0].dtype.is_floating_point and values[0].numel():
            outs[0]._jl_share = ("range", int(values[0].max()) + 1)
        elif len(outs) == 1 or func in (aten.topk.default, aten.sort.default):
            share(recorder, func, args, outs)
        return
    if not outs or func in NO_VALUES or kind.base in ("aten::empty", "aten::empty_strided", "aten::empty_like", "aten::new_empty"):
        return
    if kind.is_mutable and recorder.state.find(outs[0]) is None:
        return
    it = iter(values)
    made = [next(it) if isinstance(x, torch.Tensor) else x for x in flat]
    try:
        a, k = tree_unflatten(made, spec)
        real = func(*a, **k)
    except Exception:  # no host kernel: the value is unknown
        for x in outs:
            record = recorder.state.find(x)
            if kind.is_mutable and record is not None:
                record.known = False
        return
    reals = [real] if isinstance(real, torch.Tensor) else [x for x in tree_flatten(real)[0] if isinstance(x, torch.Tensor)]
    if len(reals) == len(outs):
        for x, v in zip(outs, reals):
            if isinstance(x, FakeTensor):
                if x.shape == v.shape:
                    x._jl_value = v
                elif hasattr(x, "_jl_value"):
                    del x._jl_value


NO_VALUES = {aten.native_dropout.default, aten.detach_.default}


# --- shares of non-zero elements ---------------------------------------------------------------------------------------------------

def hint(x):
    return getattr(x, "_jl_share", None)


KEEPS = {"aten::permute", "aten::transpose", "aten::t", "aten::view", "aten::_unsafe_view", "aten::select", "aten::slice", "aten::unsqueeze", "aten::squeeze", "aten::unbind",
         "aten::expand", "aten::clone", "aten::_to_copy", "aten::detach", "aten::alias", "aten::flatten", "aten::reshape", "aten::split", "aten::cumsum", "aten::as_strided",
         "aten::sort", "aten::index", "aten::gather"}


def share(recorder, func, args, outs):
    """("share", s) or ("share", s, why): a fraction s of the elements is non-zero, by an assumption that is stated where it is used. ("range", n):
    integers uniform over 0 … n-1. ("count", mean): counts around a mean. ("choice", n): probabilities over n choices, one of which passes a
    threshold."""
    base = func._schema.name
    x = args[0] if args and isinstance(args[0], torch.Tensor) else None
    out = outs[0]
    if base in ("aten::topk", "aten::sort", "aten::argmax", "aten::argsort", "aten::max", "aten::min") and x is not None and x.dim():
        outs[-1]._jl_share = ("range", x.shape[args[2] if base == "aten::topk" and len(args) > 2 else -1])
        return
    if base == "aten::multinomial" and x is not None:
        out._jl_share = ("range", x.shape[-1])
        return
    if base == "aten::_softmax":
        out._jl_share = ("choice", x.shape[args[1]] if x.dim() else 1)
        return
    h = hint(x) if x is not None else None
    several = x is not None and x.dim() > 0  # a single number is a condition, not a mask
    if base in ("aten::eq", "aten::ne") and len(args) > 1 and isinstance(args[1], torch.Tensor) and several and not x.is_floating_point() and x.dtype is not torch.bool:
        out._jl_share = ("share", 0.0 if base == "aten::eq" else 1.0, "whole numbers of two tensors differ where they are compared")
        return
    if base == "aten::ge" and h is None and several and x.is_floating_point() and len(args) > 1 and not isinstance(args[1], torch.Tensor) and args[1] <= SMALL_BOUND:
        out._jl_share = ("share", 1.0, "no box is too small and no score below a bound of %g" % SMALL_BOUND)
        return
    if base in ("aten::gt", "aten::ge") and h is None and several and x.dtype is torch.int64 and len(args) > 1 and not isinstance(args[1], torch.Tensor) and args[1] == (base == "aten::ge"):
        out._jl_share = ("share", LABELLED)  # labels other than background, as detectors sample them
        return
    if base in ("aten::logical_not", "aten::bitwise_not") and h is not None and h[0] == "share":
        out._jl_share = ("share", 1.0 - h[1], *h[2:])
        return
    if base in ("aten::logical_and", "aten::bitwise_and", "aten::__and__") and len(args) > 1 and isinstance(args[1], torch.Tensor):
        both = [y for y in (h, hint(args[1])) if y is not None and y[0] == "share"]
        if both:
            share_of_all = 1.0
            for y in both:
                share_of_all *= y[1]
            out._jl_share = ("share", share_of_all, *both[-1][2:])
        return
    if h is None:
        if base == "aten::any":
            out._jl_share = ("share", 0.0)
        elif base in ("aten::isnan", "aten::isinf"):
            out._jl_share = ("share", 0.0)
        elif base in ("aten::all", "aten::isfinite"):
            out._jl_share = ("share", 1.0)
        return
    if base in KEEPS:
        for o in outs:
            o._jl_share = h
    elif base in ("aten::eq",) and h[0] == "range" and not isinstance(args[1], torch.Tensor):
        out._jl_share = ("share", 1.0 / max(h[1], 1) if args[1] < h[1] else 0.0)
    elif base in ("aten::ge",) and h[0] == "range" and not isinstance(args[1], torch.Tensor):
        out._jl_share = ("share", max(0.0, min(1.0, 1.0 - args[1] / max(h[1], 1))))
    elif base == "aten::sum" and h[0] == "share":
        even(recorder, out, round(h[1] * x.numel()))
    elif base in ("aten::gt", "aten::ne") and h[0] == "count":
        out._jl_share = ("share", 1.0 if h[1] >= 1 else h[1])
    elif base in ("aten::gt", "aten::ge") and h[0] == "choice":
        out._jl_share = ("share", 1.0 / max(h[1], 1))
    elif base in ("aten::gt", "aten::ne") and h[0] == "share":
        out._jl_share = h


def even(recorder, out, total):
    """Sets uniform counts as the values of `out`, so that derived values (offsets, group sizes) are known."""
    n = out.numel()
    if not 0 < n <= SHADOW_MAX:
        out._jl_share = ("count", total / max(n, 1))
        return
    counts = torch.full((n,), total // n, dtype=out.dtype)
    counts[:total - (total // n) * n] += 1
    out._jl_value = counts.view(out.shape)
    recorder.state.program.assume("choices are spread evenly (experts, bins)")


def expected(recorder, x, what):
    """Number of non-zero elements of x."""
    known = value(recorder, x)
    if known is not None:
        return int(torch.count_nonzero(known))
    n = x.numel()
    h = hint(x)
    if h is not None and h[0] == "share":
        if len(h) > 2:
            recorder.state.program.assume(h[2])
        elif 0 < h[1] < 1:
            recorder.state.program.assume("%s finds %g of its elements (choices spread evenly)" % (what, round(h[1], 6)))
        return min(n, max(0, round(n * h[1])))
    if h is not None and h[0] == "range":
        return n - round(n / max(h[1], 1))
    if h is not None and h[0] == "count":
        return n
    recorder.state.program.assume("%s finds half of its elements" % what)
    return n // 2


# --- operators with data-dependent results or shapes -------------------------------------------------------------------------------

def item(recorder, args, kwargs, place):
    x = args[0]
    recorder.waits = "item"
    known = value(recorder, x)
    if known is not None:
        return known.item()
    h = hint(x)
    if x.dtype is torch.bool:
        if h is not None and h[0] == "share":
            return h[1] >= 0.5 and h[1] > 0
        recorder.state.program.assume("a condition that depends on data is false")
        return False
    if x.is_complex():
        return 1.0 + 0j
    if x.is_floating_point():
        recorder.state.program.assume("a number read from the device is 0" if h == ("share", 0.0) else "a number read from the device is 1")
        return 0.0 if h == ("share", 0.0) else 1.0
    if h is not None and h[0] in ("range", "count"):
        return 0 if h[0] == "range" else int(round(h[1]))
    recorder.state.program.assume("a whole number read from the device is 0")
    return 0


def new(recorder, shape, dtype, place, known=None):
    out = recorder.state.new(tuple(shape), dtype, place)
    if known is not None and known.numel() <= SHADOW_MAX:
        out._jl_value = known
    return out


def nonzero(recorder, args, kwargs, place):
    x = args[0]
    recorder.waits = "nonzero"
    known = value(recorder, x)
    if known is not None:
        found = torch.nonzero(known)
        return new(recorder, found.shape, torch.int64, place, found)
    h = hint(x)
    n = expected(recorder, x, "nonzero")
    out = new(recorder, (n, x.dim()), torch.int64, place)
    if n == x.numel() and x.dim() == 1 and n <= SHADOW_MAX:
        out._jl_value = torch.arange(n).unsqueeze(1)
    elif h is None and x.dim() == 1:
        out._jl_share = ("range", x.numel())
    return out


def masked_select(recorder, args, kwargs, place):
    x, mask = args[0], args[1]
    recorder.waits = "nonzero"
    n = expected(recorder, mask, "masked_select")
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    if len(shape) != mask.dim():
        n = n * max(torch.Size(shape).numel() // max(mask.numel(), 1), 1)
    return new(recorder, (n,), x.dtype, place)


def index(recorder, args, kwargs, place):
    """x[mask]: converts a mask to the indices that nonzero would return."""
    x, indices = args[0], list(args[1])
    if not any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in indices):
        return NOT
    plain = unmasked(recorder, indices, place)
    return recorder.run(aten.index.Tensor, (x, plain), {})


def unmasked(recorder, indices, place):
    plain = []
    for i in indices:
        if i is not None and i.dtype in (torch.bool, torch.uint8):
            n = expected(recorder, i, "a mask")
            found = new(recorder, (n, i.dim()), torch.int64, place)
            if place == GPU:
                recorder.emit("aten.nonzero", (i,), (found,))
                recorder.state.wait("nonzero")
            plain += [recorder.run(aten.select.int, (found, 1, d), {}) for d in range(i.dim())]
        else:
            plain.append(i)
    return plain


def index_put(recorder, args, kwargs, place):
    x, indices, values = args[0], list(args[1]), args[2]
    if not any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in indices):
        return NOT
    if values.numel() > 1:  # with a single value this is a masked fill, which does not wait
        unmasked(recorder, indices, place)
    return x


def unique(recorder, args, kwargs, place, func):
    x = args[0]
    recorder.waits = "nonzero"
    known = value(recorder, x)
    if known is not None:
        outs = func(known, *args[1:], **kwargs)
        return tuple(new(recorder, o.shape, o.dtype, place, o) for o in outs)
    h = hint(x)
    n = min(x.numel(), h[1] if h is not None and h[0] == "range" else UNIQUE_MAX)
    recorder.state.program.assume("unique finds %s" % ("each value that can occur" if h is not None and h[0] == "range" else "%d values at most" % UNIQUE_MAX))
    return (new(recorder, (n,), x.dtype, place), new(recorder, x.shape, torch.int64, place), new(recorder, (n,), torch.int64, place))


def repeat_interleave(recorder, args, kwargs, place):
    x = args[0]
    size = kwargs.get("output_size") or (args[1] if len(args) > 1 else None)
    known = value(recorder, x)
    if size is None:
        recorder.waits = "item"
        size = int(known.sum()) if known is not None else x.numel()
        if known is None:
            recorder.state.program.assume("repeat_interleave repeats each once")
    out = new(recorder, (size,), torch.int64, place)
    if known is not None and size <= SHADOW_MAX:
        out._jl_value = torch.repeat_interleave(known)
    return out


def bincount(recorder, args, kwargs, place):
    x = args[0]
    n = kwargs.get("minlength", args[2] if len(args) > 2 else 0)
    recorder.waits = "item"
    known = value(recorder, x)
    h = hint(x)
    if known is not None:
        found = torch.bincount(known, minlength=n)
        return new(recorder, found.shape, found.dtype, place, found)
    if h is not None and h[0] == "range":
        n = max(n, h[1])
    if not n:
        recorder.state.program.assume("bincount finds values up to the number of elements")
        n = x.numel()
    out = new(recorder, (n,), torch.int64, place)
    even(recorder, out, x.numel())
    return out


def histc(recorder, args, kwargs, place):
    x = args[0]
    if x.is_floating_point():
        return NOT
    n = kwargs.get("bins", args[1] if len(args) > 1 else 100)
    known = value(recorder, x)
    out = new(recorder, (n,), x.dtype, place)
    if known is not None and len(args) + len(kwargs) >= 4:
        out._jl_value = torch.histc(known.float(), *args[1:], **kwargs).to(x.dtype)
    else:
        even(recorder, out, x.numel())
    return out


def equal(recorder, args, kwargs, place):
    recorder.waits = "item"
    a, b = value(recorder, args[0]), value(recorder, args[1])
    if a is not None and b is not None:
        return bool(torch.equal(a, b))
    recorder.state.program.assume("a condition that depends on data is false")
    return False


def nms(recorder, args, kwargs, place):
    recorder.waits = "nonzero"
    recorder.state.program.assume("nms keeps half of its boxes")
    out = new(recorder, (args[0].shape[0] // 2,), torch.int64, place)
    out._jl_share = ("range", max(args[0].shape[0], 1))
    return out


def ctc_loss(recorder, args, kwargs, place):
    """The host reads the lengths; targets are assumed to have full length."""
    probs, targets = args[0], args[1]
    if any(isinstance(x, torch.Tensor) and recorder.state.is_gpu(x) for x in args[2:4]):
        recorder.state.wait("copy")
    longest = targets.shape[1] if targets.dim() == 2 else -(-targets.numel() // max(probs.shape[1], 1))
    return (new(recorder, (probs.shape[1],), probs.dtype, place), new(recorder, (probs.shape[1], probs.shape[0], 2 * longest + 1), probs.dtype, place))


def ctc_loss_backward(recorder, args, kwargs, place):
    return recorder.run(aten.empty_like.default, (args[1],), {"memory_format": torch.contiguous_format})


def pack(recorder, args, kwargs, place):
    """_pack_padded_sequence: lengths are in host memory."""
    x, lengths, first = args
    known = value(recorder, lengths)
    steps, batch = (x.shape[1], x.shape[0]) if first else (x.shape[0], x.shape[1])
    if known is None:
        recorder.state.program.assume("packed sequences are of full length")
        known = torch.full((batch,), steps)
    sizes = (known.view(1, -1) > torch.arange(int(known.max())).view(-1, 1)).sum(1)
    return (new(recorder, (int(known.sum()), *x.shape[2:]), x.dtype, place), sizes)


TABLE = {"aten::_ctc_loss": ctc_loss, "aten::_ctc_loss_backward": ctc_loss_backward, "aten::_pack_padded_sequence": pack,
         "aten::_local_scalar_dense": item, "aten::nonzero": nonzero, "aten::masked_select": masked_select, "aten::index": index,
         "aten::index_put": index_put, "aten::index_put_": index_put, "aten::_index_put_impl_": index_put,
         "aten::repeat_interleave": repeat_interleave, "aten::bincount": bincount, "aten::histc": histc, "aten::equal": equal, "torchvision::nms": nms}
UNIQUE = {"aten::_unique2", "aten::unique_dim", "aten::unique_consecutive", "aten::_unique"}


def dependent(recorder, func, args, kwargs, place):
    base = func._schema.name
    if base in TABLE:
        if base == "aten::repeat_interleave" and func is not aten.repeat_interleave.Tensor:
            return NOT
        return TABLE[base](recorder, args, kwargs, place)
    if base in UNIQUE:
        return unique(recorder, args, kwargs, place, func)
    return NOT


def read(state, recorder, x, what):
    """The values of a fake tensor that Python code reads as a whole (tolist, numpy)."""
    known = value(recorder, x)
    if known is not None:
        return known
    if x.numel() > (1 << 24):
        raise CaptureError("%s of a tensor of %d elements: a capture has no data" % (what, x.numel()))
    state.program.assume("numbers read from the device are 0")
    return torch.zeros(x.shape, dtype=x.dtype)
