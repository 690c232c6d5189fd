"""State of a running capture: storages and their location, call stack of modules, phase, events of the step.

Knows tensors; must not know PyTorch's functions (function.py, record.py)."""
import bisect
import contextlib
import weakref

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils.weak import WeakTensorKeyDictionary

from .program import Call, Program, round_B

GPU, CPU = "gpu", "cpu"
LARGEST = 1 << 62
OUTRUN = 8  # an optimizer this many steps behind another one is not part of the step
SHADOW_MAX = 16384  # elements: tensors up to this size keep their values if all their inputs have known values

FORMATS = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float8_e4m3fn: "e4m3",
           torch.float8_e5m2: "e5m2", torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
           torch.bool: "b8", torch.complex64: "c64", torch.complex128: "c128"}
for other, fmt in (("uint16", "i16"), ("uint32", "i32"), ("uint64", "i64"), ("complex32", "f32")):
    if hasattr(torch, other):
        FORMATS[getattr(torch, other)] = fmt


class CaptureError(RuntimeError):
    """The step cannot be captured: what, where, what to do."""


class Storage:
    """A block of (fake) GPU memory or fake host memory."""
    __slots__ = ("id", "n_B", "place", "kind", "known", "pinned", "ref", "__weakref__")

    def __init__(self, sid, n_B, place):
        self.id, self.n_B, self.place, self.kind, self.known, self.pinned, self.ref = sid, n_B, place, None, True, False, None


class State:
    def __init__(self, title="program"):
        self.program = Program(title)
        self.fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.storages = {}      # address of a StorageImpl -> Storage
        self.reals = {}         # address of a real StorageImpl -> {(shape, strides, offset, dtype): fake} of a marked tensor
        self.n_storages = 0
        self.want = None        # where the current factory call puts its tensor: GPU, CPU, None (unspecified)
        self.making = 0         # > 0: the fake mode creates a tensor for this code
        self.inside = 0         # > 0: inside the dispatcher, which must see the true location of fakes
        self.tracing = 0        # > 0: tracing a graph, whose tensors are all on the GPU
        self.paused = 0         # > 0: calls run without being recorded
        self.recording = True
        self.phase, self.written_phase = "input", None
        self.in_update = 0
        self.after = None       # "backward", "step": what ran last; later operations outside a model belong to the update
        self.stack = []         # module ids of the active module calls
        self.sequence, self.sequence_module = [], []  # autograd's sequence number -> module whose forward created the node
        self.paths = weakref.WeakKeyDictionary()      # module -> (root, dotted name)
        self.classes = {}       # (id of root, dotted name) -> class
        self.module_ids = {}    # (id of root, dotted name) -> module id
        self.roots = weakref.WeakSet()
        self.optimizers = weakref.WeakSet()
        self.n_steps = 0
        self.n_collectives = 0
        self.pinned = WeakTensorKeyDictionary()
        self.items = []         # samples per call of a root module
        self.begin()

    # --- the window that is recorded -------------------------------------------------------------------------------------------

    def begin(self):
        """Discards earlier calls: the step starts now."""
        self.program.events = []
        self.program.assumed = {}
        self.host, self.allocated, self.pending = 0, [], {}
        self.last, self.finished = None, False
        self.written_phase = None
        self.items = []
        self.live = self.alive()
        self.kinds = {}
        self.marks, self.steps = [], {}  # ends of optimizer steps among the kept calls; steps per optimizer
        self.classify()

    def alive(self):
        return {s.id: s.n_B for s in self.storages.values() if s.place == GPU and s.n_B and s.id not in self.pending}

    def mark_step(self, optimizer):
        """A step of `optimizer` ends. The optimizer with the fewest steps defines the program's step; calls before its last one are discarded."""
        self.classify()
        key = id(optimizer)
        self.steps[key] = self.steps.get(key, 0) + 1
        for other in [k for k, n in self.steps.items() if self.steps[key] > n + OUTRUN]:
            del self.steps[other]  # it has stopped stepping
        if self.steps[key] <= min(self.steps.values()):
            at = next((i for i in reversed(range(len(self.marks))) if self.marks[i][0] == key), None)
            if at is not None:
                n_events, n_items = self.marks[at][1], self.marks[at][5]
                self.cut(self.marks[at][1:])
                self.marks = [(k, n - n_events, live, last, n_freed, items - n_items, kinds) for k, n, live, last, n_freed, items, kinds in self.marks[at + 1:]]
        self.marks.append((key, len(self.program.events), self.alive(), self.last, len(self.last.freed) if self.last else 0, len(self.items), dict(self.kinds)))
        self.host, self.written_phase = 0, None

    def n_rounds(self):
        """Steps of the program so far: the minimum over its optimizers."""
        return min(self.steps.values(), default=0)

    def cut(self, mark):
        """The step starts at `mark`."""
        at, live, last, n_freed, n_items, kinds = mark
        for sid in last.freed[n_freed:] if last is not None else ():  # freed before the first call
            live.pop(sid, None)
        self.program.events = self.program.events[at:]
        self.items = self.items[n_items:]
        self.live, self.kinds = live, kinds

    def classify(self):
        """Purposes of the live storages, by what modules and optimizers hold."""
        def note(tensor, kind):
            if isinstance(tensor, torch.Tensor):
                record = self.find(tensor)
                if record is not None:
                    self.kinds.setdefault(record.id, (kind, self.kind_of(tensor)))

        def states(value, depth=0):
            if isinstance(value, torch.Tensor):
                note(value, "state")
            elif isinstance(value, dict) and depth < 4:
                for v in value.values():
                    states(v, depth + 1)
            elif isinstance(value, (list, tuple)) and depth < 4:
                for v in value:
                    states(v, depth + 1)

        with torch._C.DisableTorchFunction():
            for root in list(self.roots):
                for p in root.parameters():
                    note(p, "param")
                    note(p.grad, "grad")
                for b in root.buffers():
                    note(b, "buffer")
            for optimizer in list(self.optimizers):
                for group in optimizer.param_groups:
                    for p in group["params"]:
                        note(p, "param")
                        note(p.grad, "grad")
                states(dict(optimizer.state))

    def finish(self):
        """The program of the window ending now."""
        if self.n_steps > 1 and self.marks:  # calls after the last step belong to the next one
            self.program.events = self.program.events[:self.marks[-1][1]]
            self.items = self.items[:self.marks[-1][5]]
        self.classify()
        self.fold_new_states()
        self.finished = True
        marks = {}
        for storage in self.storages.values():
            if storage.kind:
                marks[storage.id] = storage.kind
        self.program.initial = []
        for sid, n_B in sorted(self.live.items()):
            kind, tid = self.kinds.get(sid, (marks.get(sid, "other"), 0))
            self.program.initial.append((sid, n_B, kind, tid))
        return self.program

    def fold_new_states(self):
        """An optimizer's first step creates its states. In a training step they exist, so they count as present from the start, and their
        initialisation is omitted."""
        made = {sid for sid, (kind, _) in self.kinds.items() if kind == "state" and sid not in self.live}
        if not made:
            return
        kept = []
        for event in self.program.events:
            if isinstance(event, Call):
                mine = [pair for pair in event.allocated if pair[0] in made]
                if mine:
                    self.live.update(mine)
                    event.allocated = [pair for pair in event.allocated if pair[0] not in made]
                    name = self.program.op_keys[event.op - 1][0]
                    if len(mine) == 1 and not event.allocated and name.startswith(("aten.zeros", "aten.full", "aten.zero_", "aten.fill")):
                        if event.freed:
                            previous = next((e for e in reversed(kept) if isinstance(e, Call)), None)
                            if previous is not None:
                                previous.freed += event.freed
                        continue
            kept.append(event)
        self.program.events = kept

    # --- storages --------------------------------------------------------------------------------------------------------------

    def find(self, tensor):
        """The Storage of a fake (or marked real) tensor; None for a real one."""
        if isinstance(tensor, FakeTensor):
            return self.storages.get(tensor.untyped_storage()._cdata)
        if self.reals and type(tensor) in REAL and tensor.layout is torch.strided and tensor.device.type != "meta":
            fakes = self.reals.get(tensor.untyped_storage()._cdata)
            if fakes:
                return self.find(fakes["base"])
        return None

    def is_gpu(self, tensor):
        record = self.find(tensor)
        return record is not None and record.place == GPU

    def place(self, tensor, place):
        """Registers the storage of a new fake tensor. Returns its record."""
        storage = tensor.untyped_storage()
        address = storage._cdata
        record = self.storages.get(address)
        if record is not None:
            return record
        self.n_storages += 1
        record = Storage(self.n_storages, round_B(storage.nbytes()), place)
        record.ref = weakref.ref(storage, lambda _: self.freed(address))
        self.storages[address] = record
        if place == GPU and record.n_B and not self.paused:
            self.allocated.append((record.id, record.n_B))
            self.pending[record.id] = True
        elif place == GPU and record.n_B:
            self.live[record.id] = record.n_B
        return record

    def new(self, shape, dtype, place, strides=None):
        """A new fake tensor without a call."""
        self.inside += 1
        self.making += 1
        try:
            with torch._C.DisableTorchFunction(), self.fake_mode:
                out = torch.empty(shape, dtype=dtype) if strides is None else torch.empty_strided(shape, strides, dtype=dtype)
            self.place(out, place)
            return out
        finally:
            self.inside -= 1
            self.making -= 1

    @contextlib.contextmanager
    def unrecorded(self):
        self.paused += 1
        try:
            yield
        finally:
            self.paused -= 1

    @contextlib.contextmanager
    def as_traced(self):
        """Calls of modules inside a graph are not recorded; the graph is."""
        stack, self.stack = self.stack, [0]
        try:
            yield
        finally:
            self.stack = stack

    def freed(self, address):
        record = self.storages.pop(address, None)
        if record is None or record.place != GPU or not record.n_B or self.finished:
            return
        if record.id in self.pending:  # allocated and freed between two calls: does not affect any peak
            del self.pending[record.id]
            self.allocated = [pair for pair in self.allocated if pair[0] != record.id]
        elif self.last is not None:
            self.last.freed.append(record.id)
        else:  # freed before the step's first call
            self.live.pop(record.id, None)
            self.kinds.pop(record.id, None)

    def from_real(self, real, place=GPU):
        """The fake that represents a real tensor treated as on the GPU; views of a storage remain views of one storage."""
        storage = real.untyped_storage()
        address = storage._cdata
        fakes = self.reals.get(address)
        if fakes is None:
            self.paused += 1
            base = self.new(storage.nbytes() // max(real.element_size(), 1), real.dtype, place)
            self.paused -= 1
            fakes = self.reals[address] = {"base": base, "ref": weakref.ref(storage, lambda _: self.reals.pop(address, None))}
        key = (tuple(real.shape), tuple(real.stride()), real.storage_offset(), real.dtype)
        fake = fakes.get(key)
        if fake is None:
            self.inside += 1
            self.making += 1
            try:
                with torch._C.DisableTorchFunction(), self.fake_mode:
                    base = fakes["base"]
                    if base.dtype != real.dtype:
                        base = base.view(real.dtype)
                    fake = fakes[key] = torch.as_strided(base, key[0], key[1], key[2])
            finally:
                self.inside -= 1
                self.making -= 1
        return fake

    # --- records ---------------------------------------------------------------------------------------------------------------

    def kind_of(self, tensor):
        fmt = FORMATS.get(tensor.dtype)
        if fmt is None:
            raise CaptureError("tensors of %s are not known to jeoul" % tensor.dtype)
        if tensor.layout is not torch.strided:
            return self.program.tensor(fmt, tuple(tensor.shape), ())
        return self.program.tensor(fmt, tuple(tensor.shape), tuple(tensor.stride()))

    def set_phase(self):
        phase = self.phase_now()
        if phase != self.written_phase:
            self.written_phase = phase
            self.program.events.append("p " + phase)

    def phase_now(self):
        if self.in_update:
            return "update"
        if torch._C._current_graph_task_id() != -1:
            self.after = "backward"
            return "backward"
        if self.stack:
            self.after = None
            self.phase = "forward"
        elif self.after:
            return "update"
        return self.phase

    def inputs_begin(self, is_copy=False):
        """Data is copied to the device outside a model: the next batch, unless it follows a backward pass (clipping, scaling)."""
        if not self.stack and not self.in_update and torch._C._current_graph_task_id() == -1 and (is_copy or self.after != "backward"):
            self.phase, self.after = "input", None

    def call(self, name, inputs, outputs, attributes=()):
        """Records a call; inputs and outputs are tuples of tensor kinds."""
        self.set_phase()
        oid = self.program.op(name, inputs, outputs, attributes)
        call = Call(oid, self.module_now(), self.host, self.allocated)
        self.program.events.append(call)
        self.last, self.host, self.allocated, self.pending = call, 0, [], {}

    def wait(self, reason):
        if not self.paused:
            self.set_phase()
            self.program.events.append("w " + reason)

    def collective(self, kind, n_B, size, is_async=False):
        """Records a collective; returns its number."""
        self.n_collectives += 1
        if not self.paused:
            self.set_phase()
            self.program.events.append("c %s %d %d" % (kind, n_B, size) + (" async=%d" % self.n_collectives if is_async else ""))
        return self.n_collectives

    def await_collective(self, number):
        if not self.paused:
            self.set_phase()
            self.program.events.append("x %d" % number)

    def module_now(self):
        if self.stack:  # in backward: a recomputed forward
            return self.stack[-1]
        if torch._C._current_graph_task_id() == -1:
            return 0
        node = torch._C._current_autograd_node()
        number = node._sequence_nr() if node is not None else LARGEST
        if number >= LARGEST:  # AccumulateGrad nodes have the largest number
            return 0
        at = bisect.bisect_right(self.sequence, number) - 1
        return self.sequence_module[at] if at >= 0 else 0

    # --- modules ---------------------------------------------------------------------------------------------------------------

    def enter(self, module):
        path = self.paths.get(module)
        if path is None:
            if self.stack:
                path = (None, (self.stack[-1], type(module).__name__))
            else:
                self.roots.add(module)
                for name, m in module.named_modules():
                    self.paths.setdefault(m, (id(module), name))
                    self.classes[(id(module), name)] = type(m).__name__
                path = self.paths[module]
        self.stack.append(self.module_id(path, type(module).__name__))
        self.mark()

    def leave(self):
        self.stack.pop()
        self.mark()

    def mark(self):
        now = self.stack[-1] if self.stack else 0
        at = torch.autograd._get_sequence_nr()
        if self.sequence and self.sequence[-1] >= at:
            self.sequence_module[-1] = now
        else:
            self.sequence.append(at)
            self.sequence_module.append(now)

    def module_id(self, path, cls):
        mid = self.module_ids.get(path)
        if mid is not None:
            return mid
        root, name = path
        if root is None:  # not a child of the outermost module: a child of its caller
            mid = self.program.module(name[0], name[1], cls)
        elif not name:
            mid = self.program.module(0, cls, cls)
        else:
            above, _, last = name.rpartition(".")
            mid = self.program.module(self.module_id((root, above), self.classes.get((root, above), "Module")), last, cls)
        self.module_ids[path] = mid
        return mid


REAL = {torch.Tensor, torch.nn.Parameter, torch.nn.Buffer} if hasattr(torch.nn, "Buffer") else {torch.Tensor, torch.nn.Parameter}
