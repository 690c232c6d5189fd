"""Intercepts operators whose kernels PyTorch selects by device: attention, dropout, recurrent layers, one_hot, softmax.

Registered with the dispatcher, so that calls from C++ and from recomputed forwards are intercepted too. Real tensors use PyTorch's own kernels."""
import torch

aten = torch.ops.aten


class Sdpa(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rec, q, k, v, mask, dropout, causal, scale, gqa, backend):
        b, h, s, _ = q.shape
        d = v.shape[-1]
        # the kernels write (batch, sequence, head, dim), so that the usual transpose afterwards needs no copy
        out = rec.make((b, h, s, d), q.dtype, (s * h * d, d, h * d, 1))
        rows = -(-s // 32) * 32 if backend == "efficient" else s
        lse = rec.make((b, h, rows), torch.float32) if any(ctx.needs_input_grad) or backend == "flash" else None
        ctx.rec, ctx.attributes = rec, {"causal": causal, "dropout": float(dropout), "gqa": gqa, "backend": backend}
        if scale is not None:
            ctx.attributes["scale"] = float(scale)
        rec.emit("jeoul.sdpa", (q, k, v, mask), (out, lse), **ctx.attributes)
        ctx.save_for_backward(q, k, v, out, lse, mask)
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse, mask = ctx.saved_tensors
        rec = ctx.rec
        with torch._C.DisableTorchFunction():
            made = [rec.make(tuple(x.shape), x.dtype, dense(x)) for x in (q, k, v)]
            bias = rec.make(tuple(mask.shape), mask.dtype) if mask is not None and ctx.needs_input_grad[4] else None
        rec.emit("jeoul.sdpa_backward", (grad, q, k, v, out, lse, mask), (*made, bias), **ctx.attributes)
        return (None, *made, bias, None, None, None, None, None)


def dense(x):
    """Strides of a new tensor with the memory order of x."""
    return torch.empty_like(torch.empty_strided(tuple(x.shape), tuple(x.stride()), device="meta")).stride()


def rows_lie_apart(x):
    """True if its last dimension is not contiguous: no fused kernel supports such rows."""
    return x.shape[-1] > 1 and x.stride(-1) != 1


def sdpa_backend(q, k, v, mask, gqa):
    """The attention kernel that PyTorch selects on a data-centre GPU; "math" if no fused kernel supports the tensors: non-contiguous rows, or
    broadcast heads or batches."""
    if q.dim() != 4 or k.dim() != 4 or v.dim() != 4 or not all(q.shape) or not all(k.shape):
        return "math"
    if any(rows_lie_apart(x) for x in (q, k, v)) or (mask is not None and rows_lie_apart(mask)):
        return "math"
    if not q.shape[0] == k.shape[0] == v.shape[0] or (not gqa and not q.shape[1] == k.shape[1] == v.shape[1]):
        return "math"
    half = q.dtype in (torch.float16, torch.bfloat16)
    if half and mask is None and torch._C._get_flash_sdp_enabled() and q.shape[-1] <= 256 and q.shape[-1] == v.shape[-1]:
        return "flash"
    step = 8 if half else 4
    if torch._C._get_mem_efficient_sdp_enabled() and (half or q.dtype is torch.float32) and not gqa and q.shape[-1] % step == 0 and v.shape[-1] % step == 0:
        return "efficient"
    return "math"


def sdpa(rec, op):
    def call(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
        mask = attn_mask
        if rec.state.tracing:
            if sdpa_backend(q, k, v, mask, enable_gqa) == "math":
                return op.decompose(q, k, v, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
            return aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, dropout_p, is_causal, attn_mask=mask, scale=scale)[0]
        with torch._C.DisableTorchFunction():
            backend = sdpa_backend(q, k, v, mask, enable_gqa)
            if backend == "math":
                more = {"enable_gqa": True} if enable_gqa else {}
                return aten._scaled_dot_product_attention_math.default(q, k, v, mask, dropout_p, is_causal, None, scale=scale, **more)[0]
            d = v.shape[-1]
            if backend == "flash" and d % 8:
                scale = scale if scale is not None else q.shape[-1] ** -0.5
                q, k, v = (torch.nn.functional.pad(x, (0, 8 - d % 8)) for x in (q, k, v))
            if mask is not None and mask.dtype is torch.bool:
                bias = torch.zeros_like(mask, dtype=q.dtype)
                mask = bias.masked_fill_(mask.logical_not(), float("-inf"))
            if mask is not None and mask.shape[-1] % 8 and mask.shape[-1] > 1:
                n = mask.shape[-1]
                mask = torch.nn.functional.pad(mask, (0, 8 - n % 8))[..., :n]
            out = Sdpa.apply(rec, q, k, v, mask, dropout_p, is_causal, scale, enable_gqa, backend)
            return out[..., :d] if out.shape[-1] != d else out
    return call


def dropout(rec, op):
    def call(x, p, train):
        if not train or p == 0 or not x.numel():
            return x if train is False or p == 0 else op.decompose(x, p, train)
        if p == 1:
            return op.decompose(x, p, train)
        with torch._C.DisableTorchFunction():
            return aten.native_dropout.default(x, p, train)[0]
    return call


def one_hot(rec, op):
    def call(x, num_classes=-1):
        with torch._C.DisableTorchFunction():
            if num_classes == -1:
                num_classes = int(x.max().item()) + 1
            # as on CUDA: values are not checked, so the host does not wait
            out = x.new_zeros((*x.shape, num_classes))
            out.scatter_(-1, x.unsqueeze(-1), 1)
            if not hasattr(out, "_jl_value"):
                out._jl_share = ("share", 1.0 / max(num_classes, 1))
            return out
    return call


def softmax(rec, op):
    raw = aten._softmax.default if "log" not in op._schema.name else aten._log_softmax.default

    def call(x, dim, dtype=None):
        if x.dtype is torch.float16 and dtype is torch.float32:  # one kernel on CUDA
            with torch._C.DisableTorchFunction():
                return raw(x, dim, True)
        return op.decompose(x, dim, dtype)
    return call


def rms_norm(rec, op):
    fused = getattr(aten, "_fused_rms_norm", None)
    fused = fused.default if fused is not None and len(fused.default._schema.returns) == 2 else None

    def call(x, normalized_shape, weight=None, eps=None):
        if fused is None or (weight is not None and weight.dtype is not x.dtype):
            return op.decompose(x, normalized_shape, weight, eps)
        with torch._C.DisableTorchFunction():
            return fused(x, normalized_shape, weight, eps)[0]
    return call


# --- recurrent layers ---------------------------------------------------------------------------------------------------------------

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


class Rnn(torch.autograd.Function):
    """One cuDNN call for all layers and steps; training keeps a reserve buffer for backward."""

    @staticmethod
    def forward(ctx, rec, attributes, train, n_hidden, x, *rest):
        hidden, weights = rest[:n_hidden], rest[n_hidden:]
        kind, layers, size = attributes["kind"], attributes["layers"], attributes["hidden"]
        ways = 2 if attributes["bidirectional"] else 1
        rows = x.shape[:-1]
        width = hidden[0].shape[-1]
        out = rec.make((*rows, width * ways), x.dtype)
        last = [rec.make(tuple(h.shape), h.dtype) for h in hidden]
        n = 1
        for dim in rows:
            n *= dim
        reserve = rec.make((n * layers * ways * size * (GATES[kind] + 1),), x.dtype) if train else None
        rec.emit("jeoul.rnn", (x, *hidden, *weights), (out, *last), **attributes)
        ctx.rec, ctx.attributes, ctx.n_hidden = rec, attributes, n_hidden
        ctx.save_for_backward(x, out, reserve, *hidden, *weights)
        return (out, *last)

    @staticmethod
    def backward(ctx, grad, *grads):
        x, out, reserve, *rest = ctx.saved_tensors
        rec = ctx.rec
        with torch._C.DisableTorchFunction():
            made = [rec.make(tuple(t.shape), t.dtype) if needed else None for t, needed in zip((x, *rest), ctx.needs_input_grad[4:])]
        rec.emit("jeoul.rnn_backward", (grad, x, out, *rest), made, **ctx.attributes)
        return (None, None, None, None, *made)


def rnn(kind, rec, op):
    packed = op._schema.arguments[1].name == "batch_sizes"

    def call(x, *args, **kwargs):
        if packed:
            _, hx, params, has_biases, layers, p, train, both = args
            first = False
        else:
            hx, params, has_biases, layers, p, train, both, first = args
        hidden = list(hx) if isinstance(hx, (list, tuple)) else [hx]
        with torch._C.DisableTorchFunction():
            if torch.is_autocast_enabled("cpu"):
                to = torch.float16  # regardless of autocast's format: ATen/cudnn/AutocastRNN.cpp
                x, hidden, params = x.to(to), [h.to(to) for h in hidden], [w.to(to) for w in params]
            if first:
                x = x.transpose(0, 1)
            size = params[1].shape[1] if params[1].dim() == 2 else hidden[-1].shape[-1]
            attributes = {"kind": kind, "layers": layers, "hidden": hidden[-1].shape[-1] if size is None else size, "bidirectional": both,
                          "dropout": float(p if train else 0), "bias": has_biases}
            out, *last = Rnn.apply(rec, attributes, train, len(hidden), x, *hidden, *params)
            if first:
                out = out.transpose(0, 1)
            return (out, *last)
    return call


def lstm_cell(rec, op):
    def call(x, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        with torch._C.DisableTorchFunction():
            gates = torch.nn.functional.linear(x, w_ih), torch.nn.functional.linear(hx[0], w_hh)
            return aten._thnn_fused_lstm_cell.default(*gates, hx[1].to(gates[0].dtype), b_ih, b_hh)[:2]
    return call


def plan(rec):
    """[(operator, factory of its kernel)]"""
    table = [(aten.scaled_dot_product_attention.default, sdpa), (aten.dropout.default, dropout), (aten.one_hot.default, one_hot),
             (aten.softmax.int, softmax), (aten.log_softmax.int, softmax), (aten.lstm_cell.default, lstm_cell)]
    if hasattr(aten, "rms_norm"):
        table.append((aten.rms_norm.default, rms_norm))
    for kind in GATES:
        for name in ("input", "data"):
            table.append((getattr(getattr(aten, kind), name), lambda r, o, kind=kind: rnn(kind, r, o)))
    return table


class Caught:
    """Registers the kernels; close() removes them. `table` is for inference mode, in which the dispatcher skips them."""

    def __init__(self, state):
        self.state, self.table, self.recorder = state, {}, None

    def open(self, recorder):
        self.library = torch.library.Library("aten", "IMPL")
        for op, maker in plan(recorder):
            call = maker(recorder, op)
            self.table[op] = call
            self.library.impl(op.name().partition("::")[2], self.guarded(op, call), "AutogradCPU")

    def guarded(self, op, call):
        state = self.state
        is_gpu = state.is_gpu

        def kernel(*args, **kwargs):
            if state.tracing:  # the compiler decomposes the following operators, but treats attention as one kernel
                return call(*args, **kwargs) if op is aten.scaled_dot_product_attention.default else op.decompose(*args, **kwargs)
            with torch._C.DisableTorchFunction():
                mine = any(is_gpu(x) for x in args if isinstance(x, torch.Tensor)) or any(
                    is_gpu(y) for x in args if isinstance(x, (list, tuple)) for y in x if isinstance(y, torch.Tensor))
            return call(*args, **kwargs) if mine else op.decompose(*args, **kwargs)
        return kernel

    def close(self):
        self.library._destroy()
