"""torch.compile in a capture: forward and backward graphs split by PyTorch's partitioner, kernels grouped as its compiler fuses them.

Knows graphs of aten operators; the rest of the capture sees the resulting calls."""
import contextlib
import copy
import importlib
import operator

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from .state import CaptureError

aten = torch.ops.aten
# no tag of PyTorch marks these; the compiler fuses them into neighbouring kernels
POINTWISE = {"aten::clone", "aten::_to_copy", "aten::copy", "aten::full", "aten::full_like", "aten::arange", "aten::embedding", "aten::index", "aten::gather",
             "aten::cat", "aten::constant_pad_nd", "aten::slice_scatter", "aten::select_scatter", "aten::where", "aten::rand_like", "aten::bernoulli",
             "aten::native_dropout_backward", "aten::native_dropout", "aten::index_select", "aten::masked_fill", "aten::empty", "aten::empty_like", "aten::zeros_like",
             "aten::ones_like", "aten::new_zeros", "aten::scalar_tensor", "aten::flip", "aten::repeat", "aten::tril", "aten::triu", "aten::lerp", "aten::cumsum",
             "aten::new_full", "aten::new_ones", "aten::zeros", "aten::ones", "aten::max_pool2d_with_indices", "aten::_low_memory_max_pool2d_with_offsets",
             "aten::avg_pool2d", "aten::upsample_nearest2d", "aten::as_strided_scatter", "aten::expand_copy", "aten::view_copy"}
REDUCTIONS = {"aten::sum", "aten::mean", "aten::amax", "aten::amin", "aten::var_mean", "aten::var", "aten::prod", "aten::argmax", "aten::argmin", "aten::any", "aten::all",
              "aten::max", "aten::min", "aten::_softmax", "aten::_log_softmax", "aten::native_layer_norm", "aten::logsumexp", "aten::linalg_vector_norm",
              "aten::_softmax_backward_data", "aten::_log_softmax_backward_data", "aten::nll_loss_forward"}

LOOK_BACK = 256  # groups
SPLIT_BELOW, SPLIT_LENGTH = 4096, 1024  # sums; elements of each


def numel(value):
    return value.numel() if isinstance(value, torch.Tensor) else 0


def size_B(node):
    return sum(v.numel() * v.element_size() for v in tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor))


def is_split(n, left):
    """True if a few long sums are split over the GPU's processors: results are available only when the kernel ends."""
    return left < SPLIT_BELOW and n // max(left, 1) > SPLIT_LENGTH


class Unit:
    """A kernel: a group of fused nodes, or one node that a library executes."""

    def __init__(self, node, depth, extern):
        self.nodes, self.low, self.high, self.extern, self.n, self.reduced = [node], depth, depth, extern, 0, None  # reduced: outputs of its sums
        self.before = set()  # units that must run before
        self.inputs, self.outputs, self.flop = [], [], 0


class Plan:
    """A graph as an ordered list of units."""

    def __init__(self, graph):
        self.graph, self.unit, self.depth, self.sums = graph, {}, {}, set()
        self.order = []
        for node in graph.nodes:
            if node.op == "call_function":
                self.add(node)
            elif node.op == "placeholder" or node.op == "get_attr":
                self.depth[node] = 0
        self.finish()

    @staticmethod
    def is_view(node):
        if node.target is operator.getitem:
            return True
        schema = getattr(node.target, "_schema", None)
        if schema is None:
            return False
        return schema.name in ("aten::_unsafe_view", "aten::detach", "aten::alias", "aten::lift_fresh_copy") or (
            any(r.alias_info is not None for r in schema.returns) and not schema.is_mutable)

    def source(self, node):
        """The node whose memory a view refers to."""
        while node.op == "call_function" and self.is_view(node):
            node = node.args[0]
        return node

    def sources(self, node):
        return list(dict.fromkeys(self.source(a) for a in node.all_input_nodes))

    def add(self, node):
        if self.is_view(node):
            self.depth[node] = self.depth[self.source(node)]
            return
        name = node.target._schema.name if hasattr(node.target, "_schema") else str(node.target)
        reduces = name in REDUCTIONS
        pointwise = reduces or name in POINTWISE or name.startswith("prims::") or torch.Tag.pointwise in getattr(node.target, "tags", ())
        sources = self.sources(node)
        extern = not pointwise
        depth = 0
        for s in sources:
            u = self.unit.get(s)
            depth = max(depth, self.depth[s] + (1 if extern or (u is not None and u.extern) else 0))
        self.depth[node] = depth
        size = max([numel(s.meta.get("val")) for s in sources] + [0]) if reduces else max([numel(v) for v in tree_leaves(node.meta.get("val"))] + [0])
        before = {self.unit[s] for s in sources if s in self.unit}
        left = max([numel(v) for v in tree_leaves(node.meta.get("val"))] + [1]) if reduces else None
        unit = None if extern else self.join(before, sources, size, left)
        if unit is None:
            unit = Unit(node, depth, extern)
            self.order.append(unit)
        else:
            unit.nodes.append(node)
        unit.n, unit.low, unit.high = max(unit.n, size), min(unit.low, depth), max(unit.high, depth)
        unit.reduced = left if reduces else unit.reduced
        unit.flop += size
        if reduces or not sources:
            self.sums.add(node)
        unit.before |= before - {unit}
        self.unit[node] = unit

    def reaches(self, unit, wanted, seen):
        """True if `unit` depends on `wanted`."""
        if unit is wanted:
            return True
        if unit in seen or unit.high < wanted.low:
            return False
        seen.add(unit)
        return any(self.reaches(u, wanted, seen) for u in unit.before)

    def join(self, before, sources, size, left):
        """The group that a kernel of this size is fused into: one that produces its input, or reads the same. All sums of a group have the same
        extent."""
        def fits(unit):
            if unit.extern or (left is not None and unit.reduced not in (None, left)):
                return False
            if left is None and unit.reduced is not None and size > unit.reduced and is_split(unit.n, unit.reduced):
                return False  # a second kernel finishes its sums
            return unit.n == size or (left is None and unit.reduced == size)

        recent = self.order[-LOOK_BACK:]
        found = [u for u in recent if u in before and fits(u)]
        if not found:
            mine = {s for s in sources if numel(s.meta.get("val")) == size}
            found = [u for u in recent[-8:] if fits(u) and u.n == size and mine & {s for n in u.nodes for s in self.sources(n)}]
        for unit in reversed(found):
            if not any(o is not unit and self.reaches(o, unit, set()) for o in before):
                return unit
        return None

    def is_hidden(self, node):
        """True if used inside a group only, so never written."""
        unit = self.unit.get(node)
        return unit is not None and not unit.extern and node not in unit.outputs

    def inline(self, users):
        """Does not write values that are cheap to recompute: other groups recompute them from the same inputs."""
        for unit in self.order:
            if unit.extern:
                continue
            mine = set(unit.nodes)
            for node in [n for n in unit.outputs if n not in self.sums and isinstance(n.meta.get("val"), torch.Tensor)]:
                others = users[node] - {unit}
                if any(o is None or o.extern for o in others):
                    continue
                reads, walk, seen = [], [node], set()
                while walk:
                    n = walk.pop()
                    for s in self.sources(n):
                        if s not in self.sums and (s in mine or self.is_hidden(s)):
                            if s not in seen:
                                seen.add(s)
                                walk.append(s)
                        elif s not in reads:
                            reads.append(s)
                if sum(size_B(r) for r in reads) > 2 * size_B(node) or len(reads) > 8:
                    continue
                unit.outputs.remove(node)
                for r in reads:
                    maker = self.unit.get(r)
                    if maker is not None and not maker.extern and r not in maker.outputs:
                        maker.outputs.append(r)
                for other in others:
                    other.inputs = list(dict.fromkeys([r for i in other.inputs for r in (reads if i is node else (i,))]))
                    other.before |= {self.unit[r] for r in reads if r in self.unit} - {other}
                    for r in reads:
                        users.setdefault(r, set()).add(other)

    def finish(self):
        """Determines inputs and outputs of each group, and the last use of each tensor."""
        users = {}
        for node in self.graph.nodes:
            if node.op == "output":
                for a in tree_leaves(node.args):
                    if isinstance(a, torch.fx.Node):
                        users.setdefault(self.source(a), set()).add(None)
            elif node.op == "call_function" and not self.is_view(node):
                for s in self.sources(node):
                    users.setdefault(s, set()).add(self.unit[node])
        for unit in self.order:
            mine = set(unit.nodes)
            unit.inputs = list(dict.fromkeys(s for n in unit.nodes for s in self.sources(n) if s not in mine))
            unit.outputs = [n for n in unit.nodes if users.get(n, set()) - {unit}]
        self.inline(users)
        done, ordered = set(), []

        def place(unit):
            stack = [(unit, iter(sorted(unit.before, key=self.order.index)))]
            while stack:
                top, rest = stack[-1]
                following = next((u for u in rest if u not in done), None)
                if following is not None:
                    stack.append((following, iter(sorted(following.before, key=self.order.index))))
                else:
                    stack.pop()
                    if top not in done:
                        done.add(top)
                        ordered.append(top)

        wanted = {u for s, us in users.items() if None in us for u in [self.unit.get(s)] if u is not None}
        for unit in self.order:  # delay each group until its output is needed
            if unit.extern:
                place(unit)
        for unit in self.order:
            if unit in wanted:
                place(unit)
        self.ordered = ordered
        self.last = {}
        for i, unit in enumerate(ordered):
            for s in unit.inputs:
                self.last[s] = i
        self.kept = {s for s, us in users.items() if None in us}


class Run:
    """A compiled graph: calling it records its kernels."""
    _boxed_call = True

    def __init__(self, module, recorder):
        self.module, self.recorder, self.plan = module, recorder, Plan(module.graph)

    def __call__(self, args):
        env, rec, plan = {}, self.recorder, self.plan
        given = iter(list(args))
        args.clear()
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                env[node] = next(given)
            elif node.op == "get_attr":
                env[node] = getattr(self.module, node.target)
        del given
        for i, unit in enumerate(plan.ordered):
            self.extern(unit, env) if unit.extern else self.fused(unit, env)
            for s in unit.inputs:
                if plan.last.get(s) == i and s not in plan.kept:
                    env.pop(s, None)
            for n in unit.nodes:
                if n not in plan.last and n not in plan.kept:
                    env.pop(n, None)
        out = next(n for n in self.module.graph.nodes if n.op == "output")
        with rec.state.unrecorded():
            return tree_map(lambda x: self.value(x, env) if isinstance(x, torch.fx.Node) else x, out.args[0])

    def value(self, node, env):
        """The tensor of a node; views are created on use."""
        if node in env:
            return env[node]
        if not self.plan.is_view(node):
            raise CaptureError("a compiled graph uses %s before it is made" % node)
        args, kwargs = tree_map(lambda a: self.value(a, env) if isinstance(a, torch.fx.Node) else a, (node.args, node.kwargs))
        return node.target(*args, **kwargs)

    def make(self, value):
        if not isinstance(value, torch.Tensor):
            return value
        return self.recorder.make(tuple(value.shape), value.dtype, tuple(value.stride()))

    def fused(self, unit, env):
        rec = self.recorder
        for node in unit.outputs:
            env[node] = tree_map(self.make, node.meta["val"])
        reads = [x for s in unit.inputs for x in tree_leaves(env[s]) if isinstance(x, torch.Tensor)]
        writes = [x for n in unit.outputs for x in tree_leaves(env[n]) if isinstance(x, torch.Tensor)]
        if writes:
            rec.emit("jeoul.fused", reads, writes, flop=unit.flop, reduce=unit.reduced is not None, ops=len(unit.nodes))

    def extern(self, unit, env):
        node = unit.nodes[0]
        with self.recorder.state.unrecorded():
            args, kwargs = tree_map(lambda a: self.value(a, env) if isinstance(a, torch.fx.Node) else a, (node.args, node.kwargs))
        if node.target is FLASH:
            env[node] = self.attention(node, args, kwargs)
        elif node.target is FLASH_BACKWARD:
            grad, q, k, v, out, lse, p, causal = args[:8]
            mask = kwargs.get("attn_mask")
            made = tuple(self.make(x) for x in node.meta["val"])
            self.recorder.emit("jeoul.sdpa_backward", (grad, q, k, v, out, lse, mask), made, **self.attributes(q, k, p, causal, mask, kwargs))
            env[node] = made
        else:
            env[node] = node.target(*args, **kwargs)

    @staticmethod
    def attributes(q, k, p, causal, mask, kwargs):
        half = q.dtype in (torch.float16, torch.bfloat16)
        out = {"causal": causal, "dropout": float(p), "gqa": q.shape[1] != k.shape[1], "backend": "flash" if half and mask is None else "efficient"}
        return {**out, "scale": float(kwargs["scale"])} if kwargs.get("scale") is not None else out

    def attention(self, node, args, kwargs):
        q, k, v = args[:3]
        p, causal = (*args[3:5], 0.0, False)[:2] if len(args) > 4 else (args[3] if len(args) > 3 else 0.0, kwargs.get("is_causal", False))
        mask = kwargs.get("attn_mask")
        out, lse = (self.make(x) for x in node.meta["val"])
        self.recorder.emit("jeoul.sdpa", (q, k, v, mask), (out, lse), **self.attributes(q, k, p, causal, mask, kwargs))
        return out, lse


FLASH = aten._scaled_dot_product_flash_attention_for_cpu.default
FLASH_BACKWARD = aten._scaled_dot_product_flash_attention_for_cpu_backward.default


def decompositions():
    from torch._inductor.decomposition import select_decomp_table
    with contextlib.suppress(ImportError):  # needed by its decomposition of pooling
        importlib.import_module("torch._inductor.lowering")
    table = dict(select_decomp_table())
    for op in (FLASH, FLASH_BACKWARD, aten._fused_rms_norm.default if hasattr(aten, "_fused_rms_norm") else None):
        table.pop(op, None)
    return table


@contextlib.contextmanager
def as_compiling():
    """During tracing, code that tests for compilation gets True."""
    saved = [(owner, name, getattr(owner, name)) for owner, name in ((torch.compiler, "is_compiling"), (torch.compiler, "is_dynamo_compiling")) if hasattr(owner, name)]
    for owner, name, _ in saved:
        setattr(owner, name, lambda: True)
    try:
        yield
    finally:
        for owner, name, value in saved:
            setattr(owner, name, value)


class Hole:
    """Placeholder for a tensor in an output."""

    def __init__(self, at):
        self.at = at


def taken_apart(x, tensors, depth=0):
    """An output with placeholders instead of tensors, which objects of any class may contain (caches)."""
    if isinstance(x, torch.Tensor):
        tensors.append(x)
        return Hole(len(tensors) - 1)
    if depth > 6 or isinstance(x, (str, bytes, int, float, bool, type(None), type, torch.nn.Module, torch.dtype, torch.device)):
        return x
    if isinstance(x, tuple):
        parts = [taken_apart(y, tensors, depth + 1) for y in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, list):
        return [taken_apart(y, tensors, depth + 1) for y in x]
    if isinstance(x, dict) and type(x) is dict:
        return {k: taken_apart(y, tensors, depth + 1) for k, y in x.items()}
    if hasattr(x, "__dict__"):
        new = copy.copy(x)
        if isinstance(x, dict):
            for k in list(new):
                dict.__setitem__(new, k, taken_apart(dict.__getitem__(x, k), tensors, depth + 1))
        for k, y in vars(x).items():
            new.__dict__[k] = dict.get(new, k) if isinstance(x, dict) and dict.__contains__(x, k) else taken_apart(y, tensors, depth + 1)
        return new
    return x


def put_together(x, tensors, depth=0):
    if isinstance(x, Hole):
        return tensors[x.at]
    if depth > 6 or isinstance(x, (str, bytes, int, float, bool, type(None), type, torch.nn.Module, torch.dtype, torch.device)):
        return x
    if isinstance(x, tuple):
        parts = [put_together(y, tensors, depth + 1) for y in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, list):
        return [put_together(y, tensors, depth + 1) for y in x]
    if isinstance(x, dict) and type(x) is dict:
        return {k: put_together(y, tensors, depth + 1) for k, y in x.items()}
    if hasattr(x, "__dict__"):
        new = copy.copy(x)
        if isinstance(x, dict):
            for k in list(new):
                dict.__setitem__(new, k, put_together(dict.__getitem__(x, k), tensors, depth + 1))
        for k, y in vars(x).items():
            new.__dict__[k] = put_together(y, tensors, depth + 1)
        return new
    return x


def called_children(module):
    """The modules called directly by a forward pass; lists of modules are traversed, not called."""
    for child in module.children():
        if isinstance(child, (torch.nn.ModuleList, torch.nn.ModuleDict)):
            yield from called_children(child)
        else:
            yield child


# reading a tensor's value: PyTorch breaks the graph here
BREAKS = ("DataDependentOutputException", "DynamicOutputShapeException")


class Compiled:
    """Replacement for torch.compile(function): traces once per kind of input. A module whose graph breaks runs eagerly with compiled children, as
    PyTorch compiles the parts around a break."""

    def __init__(self, session, function, inner=False):
        self.session, self.function, self.inner, self.traced, self.failed = session, function, inner, {}, None

    def fail(self, error):
        what, module = " ".join(str(error).split())[:120], isinstance(self.function, torch.nn.Module)
        children = list(called_children(self.function)) if module and type(error).__name__ in BREAKS else []
        self.failed = "torch.compile is left out of %s (%s: %s)%s" % (
            type(self.function).__name__ if module else "a function", type(error).__name__, what, ": its modules are compiled one by one" if children else "")
        for child in children:
            self.session.compiled.setdefault(id(child), Compiled(self.session, child, inner=True))

    def __call__(self, *args, **kwargs):
        if self.failed:
            if not self.inner:  # a restarted step forgets earlier assumptions
                self.session.state.program.assume(self.failed)
            return self.plainly(*args, **kwargs)
        leaves, _ = tree_flatten((args, kwargs))
        key = tuple((tuple(x.shape), tuple(x.stride()), x.dtype, x.requires_grad) if isinstance(x, torch.Tensor) else
                    x if isinstance(x, (int, float, str, bool, type(None))) else type(x) for x in leaves)
        key += (torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), getattr(self.function, "training", None))
        run = self.traced.get(key)
        try:
            if run is None:
                run = self.trace(args, kwargs)
            out = run(*args, **kwargs)
            self.traced[key] = run
            return out
        except Exception as e:
            if key in self.traced:
                raise
            self.fail(e)
            return self(*args, **kwargs)

    def plainly(self, *args, **kwargs):
        if isinstance(self.function, torch.nn.Module):
            return self.session.module_call(self.function, *args, **kwargs)
        return self.function(*args, **kwargs)

    def trace(self, args, kwargs):
        from torch._functorch.aot_autograd import aot_function
        from torch._functorch.partitioners import min_cut_rematerialization_partition
        recorder, state = self.session.recorder, self.session.state
        module = self.function if isinstance(self.function, torch.nn.Module) else None
        tensors = {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))} if module is not None else {}
        names = list(tensors)
        call = self.session.module_call

        shape = []

        def functional(values, args, kwargs):
            with state.as_traced():
                if module is None:
                    out = self.function(*args, **kwargs)
                else:
                    with torch.nn.utils.stateless._reparametrize_module(module, dict(zip(names, values))):
                        out = call(module, *args, **kwargs)
            tensors = []
            shape[:] = [taken_apart(out, tensors)]
            return tensors

        def compiler(graph, inputs):
            return Run(graph, recorder)

        run = aot_function(functional, fw_compiler=compiler, bw_compiler=compiler, inference_compiler=compiler,
                           partition_fn=min_cut_rematerialization_partition, decompositions=decompositions(), keep_inference_input_mutations=True)
        first = [True]

        def traced(*args, **kwargs):
            values = [tensors[n] for n in names]
            if not first:
                return put_together(shape[0], run(values, args, kwargs))
            first.clear()
            state.tracing += 1
            state.inside += 1
            state.paused += 1
            try:
                with contextlib.ExitStack() as stack:
                    stack.enter_context(_disable_current_modes())
                    stack.enter_context(torch._C.DisableTorchFunction())
                    stack.enter_context(as_compiling())
                    run(values, args, kwargs)  # traces; results of the first call itself are discarded
            finally:
                state.tracing -= 1
                state.inside -= 1
                state.paused -= 1
            return put_together(shape[0], run(values, args, kwargs))

        return traced
