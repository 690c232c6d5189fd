"""Several GPUs from one process: a process group without peers that records collectives, and DistributedDataParallel as in PyTorch's reducer.

Knows torch.distributed; record.py records everything else."""
import os

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

# c10d operators with tensors -> (kind in the file, index of the argument that this rank sends or, for gathers, receives)
KINDS = {"allreduce_": ("all_reduce", 0), "allreduce_coalesced_": ("all_reduce", 0), "broadcast_": ("broadcast", 0), "reduce_": ("reduce", 0),
         "_allgather_base_": ("all_gather", 0), "allgather_": ("all_gather", 0), "allgather_into_tensor_coalesced_": ("all_gather", 0),
         "_reduce_scatter_base_": ("reduce_scatter", 1), "reduce_scatter_": ("reduce_scatter", 1), "reduce_scatter_tensor_coalesced_": ("reduce_scatter", 1),
         "alltoall_base_": ("all_to_all", 1), "alltoall_": ("all_to_all", 1), "send": ("send", 0), "recv_": ("recv", 0), "gather_": ("gather", 1),
         "scatter_": ("scatter", 1)}
FUNCTIONAL = {"all_reduce": "all_reduce", "all_reduce_": "all_reduce", "all_gather_into_tensor": "all_gather", "reduce_scatter_tensor": "reduce_scatter",
              "all_to_all_single": "all_to_all", "broadcast": "broadcast", "broadcast_": "broadcast"}
BUCKET_B, FIRST_BUCKET_B = 25 << 20, 1 << 20  # DistributedDataParallel's defaults


def leaves_B(x):
    if isinstance(x, torch.Tensor):
        return x.numel() * x.element_size()
    return sum(leaves_B(y) for y in x) if isinstance(x, (list, tuple)) else 0


def collective(recorder, func, args, kwargs):
    """Records a collective at the dispatcher. Returns whether it was one."""
    space, _, name = func._schema.name.partition("::")
    state = recorder.state
    if space == "c10d" and name in KINDS:
        kind, at = KINDS[name]
        group = next((a for a in args if hasattr(a, "size") and callable(a.size) and not isinstance(a, torch.Tensor)), None)
        state.collective(kind, leaves_B(args[at]), group.size() if group is not None else state.program.world)
        return True
    if space == "_c10d_functional" and name in FUNCTIONAL:
        size = args[1] if name in ("all_gather_into_tensor", ) else args[2] if name == "reduce_scatter_tensor" else state.program.world
        n_B = leaves_B(args[0]) * (size if name == "all_gather_into_tensor" else 1)
        state.collective(FUNCTIONAL[name], n_B, size if isinstance(size, int) else state.program.world)
        return True
    return False


def answer(func, args, kwargs):
    """Return value of the group without peers: the given tensors and a completed handle."""
    flat, spec = tree_flatten((args, kwargs))
    real = [torch.empty(1, dtype=x.dtype) if isinstance(x, torch.Tensor) else x for x in flat]
    a, k = tree_unflatten(real, spec)
    out, shape = tree_flatten(func(*a, **k))
    given = {id(r): x for r, x in zip(real, flat) if isinstance(x, torch.Tensor)}
    first = iter([x for x in flat if isinstance(x, torch.Tensor)])
    return tree_unflatten([given.get(id(x)) if id(x) in given else next(first) if isinstance(x, torch.Tensor) else x for x in out], shape)


class Ddp(torch.nn.Module):
    """DistributedDataParallel: gradients fill buckets in the order of backward; a bucket's all-reduce overlaps with later computation."""

    def __init__(self, session, module, bucket_cap_mb=None, gradient_as_bucket_view=False, static_graph=False, **options):
        super().__init__()
        self.module, self.session, self.as_view, self.sync = module, session, gradient_as_bucket_view, True
        self.world = session.state.program.world
        state = session.state
        limit_B = int((bucket_cap_mb or BUCKET_B / (1 << 20)) * (1 << 20))
        self.buckets, self.bucket_of = [], {}
        mine, mine_B = [], 0
        for p in reversed([p for p in module.parameters() if p.requires_grad]):
            mine.append(p)
            mine_B += p.numel() * p.element_size()
            if mine_B >= (limit_B if self.buckets else min(FIRST_BUCKET_B, limit_B)):
                self.close(mine)
                mine, mine_B = [], 0
        if mine:
            self.close(mine)
        with state.unrecorded():
            self.memory = [session.recorder.make((sum(p.numel() for p in b),), b[0].dtype) for b in self.buckets]
        self.ready, self.waiting = {}, []
        for p in self.bucket_of:
            p.register_post_accumulate_grad_hook(self.hook)

    def close(self, parameters):
        for p in parameters:
            self.bucket_of[p] = len(self.buckets)
        self.buckets.append(list(parameters))

    def forward(self, *args, **kwargs):
        for b in self.module.buffers():
            if self.world > 1 and self.session.state.is_gpu(b) and torch.is_grad_enabled() and self.training:
                self.session.state.collective("broadcast", b.numel() * b.element_size(), self.world)
        return self.module(*args, **kwargs)

    def no_sync(self):
        return NoSync(self)

    def hook(self, p):
        if not self.sync:
            return
        recorder, at = self.session.recorder, self.bucket_of[p]
        if not self.ready:
            torch.autograd.Variable._execution_engine.queue_callback(self.finish)
        with torch._C.DisableTorchFunction():
            grad = p.grad
            recorder.emit("aten.mul.out", (grad,), (grad,), inplace=1)  # copies into the bucket, divided by the number of ranks
        self.ready[at] = self.ready.get(at, 0) + 1
        if self.ready[at] == len(self.buckets[at]):
            n_B = leaves_B(self.memory[at])
            self.waiting.append((at, self.session.state.collective("all_reduce", n_B, self.world, is_async=True)))

    def finish(self):
        recorder = self.session.recorder
        for at, number in self.waiting:
            self.session.state.await_collective(number)
            if not self.as_view:
                for p in self.buckets[at]:
                    with torch._C.DisableTorchFunction():
                        recorder.emit("aten.copy_", (p.grad, p.grad), (p.grad,), inplace=1)
        self.ready, self.waiting = {}, []


class NoSync:
    def __init__(self, ddp):
        self.ddp = ddp

    def __enter__(self):
        self.ddp.sync = False

    def __exit__(self, *args):
        self.ddp.sync = True


def parts(session):
    """[(owner, name, stand-in)] for torch.distributed."""
    dist = torch.distributed
    if not dist.is_available():
        return []
    init = dist.init_process_group

    def start(backend=None, *args, **options):
        from torch.testing._internal.distributed.fake_pg import FakeStore
        world = int(options.get("world_size", -1) if options.get("world_size", -1) > 0 else os.environ.get("WORLD_SIZE", 1))
        rank = int(options.get("rank", -1) if options.get("rank", -1) >= 0 else os.environ.get("RANK", 0))
        session.state.program.world, session.state.program.rank = world, rank
        init("fake", store=FakeStore(), rank=rank, world_size=world)
        session.undo.append(lambda: dist.is_initialized() and dist.destroy_process_group())

    def ddp(module, *args, **options):
        options = {k: v for k, v in options.items() if k in ("bucket_cap_mb", "gradient_as_bucket_view", "static_graph")}
        return Ddp(session, module, **options)

    out = [(dist, "init_process_group", start), (torch.nn.parallel, "DistributedDataParallel", ddp),
           (torch.nn.parallel.distributed, "DistributedDataParallel", ddp)]
    if hasattr(dist, "is_nccl_available"):
        out.append((dist, "is_nccl_available", lambda: True))
    return out
