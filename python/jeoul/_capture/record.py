"""Records device operations below autograd: one call per operator, with kinds of tensors, memory and intermediate host work.

Knows operators by their schema; the reader of the file maps them to kernels."""
import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import group, guess
from .state import CPU, GPU, REAL, SHADOW_MAX, CaptureError

# arguments that determine the kernel: name in the schema -> name in the file
ATTRIBUTES = {"dim": "dim", "dims": "dim", "k": "k", "stride": "stride", "padding": "pad", "pad": "pad", "dilation": "dil", "groups": "groups",
              "group": "groups", "num_groups": "groups", "transposed": "transposed", "output_padding": "opad", "kernel_size": "kernel", "training": "training", "train": "training",
              "p": "dropout", "accumulate": "accumulate", "largest": "largest", "sorted": "sorted", "descending": "descending",
              "half_to_float": "half_to_float", "output_mask": "mask", "exponent": "exp", "reduction": "reduction", "approximate": "approximate",
              "normalized_shape": "norm", "ord": "ord", "shifts": "shifts", "align_corners": "align_corners", "num_weights": "num_weights",
              "scale_grad_by_freq": "scale_grad_by_freq", "mode": "mode", "reduce": "reduce", "include_self": "include_self", "bins": "bins",
              "sampling_ratio": "sampling_ratio", "pooled_height": "pooled_h", "pooled_width": "pooled_w"}
# launch no kernel, although their schema is not that of a view
NO_KERNEL = {"aten::detach", "aten::alias", "aten::lift", "aten::lift_fresh", "aten::_unsafe_view", "aten::_reshape_alias", "aten::empty", "aten::empty_like",
             "aten::empty_strided", "aten::new_empty", "aten::new_empty_strided", "aten::empty_permuted", "aten::is_same_size", "aten::set_",
             "aten::_local_scalar_dense", "aten::resize_", "aten::_has_compatible_shallow_copy_type", "aten::is_pinned", "aten::_nested_tensor_size", "aten::detach_",
             "aten::as_strided_", "aten::t_", "aten::transpose_", "aten::squeeze_", "aten::unsqueeze_", "aten::swapdims_", "aten::swapaxes_"}
MOVED_LISTS = ("aten::_foreach", "aten::_fused", "aten::_amp_foreach")
aten = torch.ops.aten
LIKE = {aten.empty_like.default, aten.zeros_like.default, aten.ones_like.default, aten.full_like.default, aten.rand_like.default, aten.randn_like.default,
        aten.randint_like.default, aten.new_empty.default, aten.new_zeros.default, aten.new_ones.default, aten.new_full.default, aten.new_empty_strided.default}
RENAMED = {"aten.native_dropout": "jeoul.dropout", "aten.native_dropout_backward": "jeoul.dropout_backward"}


def value_text(value):
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return "%g" % value
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], bool):
            return "".join("1" if v else "0" for v in value)
        return "x".join(value_text(v) for v in value) or "-"
    return "_".join(str(value).split()) or "-"


class Kind:
    """Properties of an operator's schema, computed once."""

    def __init__(self, func):
        schema = func._schema
        self.base = schema.name
        name = str(func)
        name = name[:-len(".default")] if name.endswith(".default") else name
        self.name = RENAMED.get(name, name)
        arguments = schema.arguments
        writes = any(a.alias_info is not None and a.alias_info.is_write for a in arguments)
        aliases = any(r.alias_info is not None for r in schema.returns)
        self.is_mutable = writes
        self.no_kernel = (aliases and not writes) or self.base in NO_KERNEL or self.base.startswith("prim")
        self.attributes = [(i, a.name, ATTRIBUTES[a.name], a.default_value) for i, a in enumerate(arguments)
                           if a.name in ATTRIBUTES and "Tensor" not in str(a.type)]
        self.moves_lists = self.base.startswith(MOVED_LISTS)
        self.writes_to = [i for i, a in enumerate(arguments) if a.alias_info is not None and a.alias_info.is_write]
        self.is_composite = torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")

    def attribute_values(self, args, kwargs):
        out = [("inplace", "1")] if self.base.endswith("_") and self.is_mutable else []
        for i, name, key, default in self.attributes:
            value = args[i] if i < len(args) else kwargs.get(name, default)
            if value is not None and not isinstance(value, torch.Tensor):
                out.append((key, value_text(value)))
        return out


class Recorder(TorchDispatchMode):
    def __init__(self, state, caught):
        super().__init__()
        self.state, self.caught, self.kinds = state, caught, {}
        self.waits = None  # why the host waits for the current call
        self.cpu = torch.device("cpu")
        self.device_op = torch.ops.prim.device.default

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is self.device_op:
            return self.cpu if isinstance(args[0], FakeTensor) else func(*args)
        state = self.state
        if state.making:  # the fake mode creates a tensor for this code
            return func(*args, **(kwargs or {}))
        state.inside += 1
        try:
            with torch._C.DisableTorchFunction():
                return self.dispatch(func, args, kwargs or {})
        finally:
            state.inside -= 1

    def kind(self, func):
        kind = self.kinds.get(func)
        if kind is None:
            kind = self.kinds[func] = Kind(func)
        return kind

    def dispatch(self, func, args, kwargs):
        state = self.state
        flat, spec = tree_flatten((args, kwargs))
        tensors = [x for x in flat if isinstance(x, torch.Tensor)]
        place = self.where(func, tensors, args)
        if place is None:
            state.host += 1
            return func(*args, **kwargs)
        if func.namespace in ("c10d", "_c10d_functional") and group.collective(self, func, args, kwargs):
            with state.unrecorded():
                out = group.answer(func, args, kwargs) if func.namespace == "c10d" else self.run(func, args, kwargs)
                for x in tree_flatten(out)[0]:
                    if isinstance(x, FakeTensor):
                        state.place(x, place)
            return out
        kind = self.kind(func)
        if kind.is_composite and torch.is_inference_mode_enabled():
            caught = self.caught.get(func)
            with self:
                return caught(*args, **kwargs) if caught else func._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *args, **kwargs)
        if any(type(x) in REAL for x in tensors):
            flat = [self.to_fake(x, place, kind) if isinstance(x, torch.Tensor) else x for x in flat]
            real_args = args
            args, kwargs = tree_unflatten(flat, spec)
            tensors = [x for x in flat if isinstance(x, torch.Tensor)]
        else:
            real_args = None
        self.waits = None
        out = guess.dependent(self, func, args, kwargs, place)
        if out is guess.NOT:
            out = self.run(func, args, kwargs)
        if out is None or not tensors and not isinstance(out, (torch.Tensor, list, tuple)):
            self.note(kind, args, kwargs, tensors, [], place)
            return out
        outs = [out] if isinstance(out, torch.Tensor) else [x for x in tree_flatten(out)[0] if isinstance(x, torch.Tensor)]
        self.note(kind, args, kwargs, tensors, outs, place)
        guess.follow(self, func, kind, args, kwargs, tensors, outs, spec, flat)
        if real_args is not None and kind.is_mutable and isinstance(out, torch.Tensor):
            for i in kind.writes_to:  # autograd expects the written tensor itself
                if i < len(args) and out is args[i]:
                    return real_args[i]
        return out

    def where(self, func, tensors, args):
        """GPU, CPU (fakes of host memory), or None for real host tensors, which run normally."""
        state = self.state
        place = None
        for x in tensors:
            record = state.find(x)
            if record is not None:
                if record.place == GPU:
                    return GPU
                place = CPU
        if place is not None:
            return GPU if state.want == GPU and func in LIKE else place
        if tensors:
            return GPU if state.want == GPU and all(x.device.type == "meta" for x in tensors) else None
        if state.want == GPU or state.want is None and torch._C._current_graph_task_id() != -1:
            return GPU
        if func is torch.ops.aten.empty.memory_format and len(args) and isinstance(args[0], (list, tuple)) and guess.is_parameter(args[0]):
            return CPU
        return None

    def to_fake(self, x, place, kind):
        """A real tensor used with fakes. Host scalars stay kernel arguments."""
        if type(x) not in REAL or x.layout is not torch.strided:
            return x
        fake = self.state.from_real(x, place)
        if x.numel() <= SHADOW_MAX and not x.requires_grad and not hasattr(fake, "_jl_value"):
            with torch._C._DisableTorchDispatch():
                fake._jl_value = x.detach().clone()
        return fake

    def run(self, func, args, kwargs):
        try:
            with self.state.fake_mode:
                return func(*args, **kwargs)
        except (torch._subclasses.fake_tensor.DataDependentOutputException, torch._subclasses.fake_tensor.DynamicOutputShapeException) as e:
            raise CaptureError("the result of %s depends on data that a capture does not have" % func) from e

    def make(self, shape, dtype, strides=None):
        """A new GPU tensor without a call."""
        return self.state.new(shape, dtype, GPU, strides)

    def emit(self, name, inputs, outputs, **attributes):
        """Records a call created by this code."""
        if not self.state.paused:
            with torch._C.DisableTorchFunction():
                kind_of = self.state.kind_of
                self.state.call(name, tuple(kind_of(x) for x in inputs if x is not None), tuple(kind_of(x) for x in outputs if x is not None),
                                tuple((k, value_text(v)) for k, v in attributes.items()))

    def note(self, kind, args, kwargs, tensors, outs, place):
        self.record(kind, args, kwargs, tensors, outs, place)
        if self.waits is not None and place == GPU:
            self.state.wait(self.waits)

    def record(self, kind, args, kwargs, tensors, outs, place):
        """Register memory and record the call."""
        state = self.state
        for x in outs:
            if isinstance(x, FakeTensor):
                state.place(x, place)
        if state.paused:
            return
        if place != GPU or kind.no_kernel or (outs and not kind.is_mutable and not any(x.numel() for x in outs)):
            state.host += 1
            return
        attributes = kind.attribute_values(args, kwargs)
        if kind.moves_lists:
            inputs = self.foreach(args, kwargs, attributes)
            if not inputs:
                state.host += 1
                return
        else:
            inputs = tuple(state.kind_of(x) for x in tensors)
        if kind.base == "aten::index" or kind.base.startswith("aten::index_put") or kind.base == "aten::_index_put_impl_":
            attributes.append(("at", "x".join(str(i) for i, x in enumerate(args[1]) if x is not None) or "-"))
        outputs = tuple(sorted(state.kind_of(x) for x in outs)) if kind.moves_lists else tuple(state.kind_of(x) for x in outs)
        if not tensors:
            state.inputs_begin()
        state.call(kind.name, inputs, outputs, tuple(attributes))

    def foreach(self, args, kwargs, attributes):
        """Corresponding elements of several lists, sorted by kind, so that equal tensors are adjacent."""
        state = self.state
        lists = [x for x in (*args, *kwargs.values()) if isinstance(x, (list, tuple)) and x and isinstance(x[0], torch.Tensor)]
        single = [state.kind_of(x) for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor) and x.dim()]
        if not lists:
            return ()
        n = len(lists[0])
        even = [x for x in lists if len(x) == n and state.is_gpu(x[0])]
        rows = sorted(zip(*([state.kind_of(t) for t in x] for x in even)))
        attributes.append(("lists", str(len(even))))
        return tuple(t for column in zip(*rows) for t in column) + tuple(single)
