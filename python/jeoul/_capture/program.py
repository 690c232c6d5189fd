"""The program file: stores each kind of tensor, call and module once, then the calls of one step (docs/PROGRAM.md).

Must not know PyTorch: input is shapes, names and numbers, output is text."""

VERSION = 1
ROUND_B = 512  # granularity of PyTorch's allocator


def round_B(n_B):
    return -(-n_B // ROUND_B) * ROUND_B


def contiguous(shape):
    strides, n = [], 1
    for dim in reversed(shape):
        strides.append(n)
        n *= max(dim, 1)
    return tuple(reversed(strides))


def is_contiguous(shape, strides):
    """Normalised strides: those of dimensions of size 1, and of empty tensors, do not matter."""
    n = 1
    for dim, stride in zip(reversed(shape), reversed(strides)):
        if dim == 0:
            return True
        if dim != 1:
            if stride != n:
                return False
            n *= dim
    return True


def runs(ids):
    """Formats 1,1,1,2 as "1*3,2"."""
    out, i = [], 0
    while i < len(ids):
        j = i
        while j < len(ids) and ids[j] == ids[i]:
            j += 1
        out.append("%d*%d" % (ids[i], j - i) if j - i > 1 else "%d" % ids[i])
        i = j
    return ",".join(out) or "-"


def word(text):
    """A name as one field of a line."""
    return "_".join(str(text).split()) or "_"


class Call:
    """A `k` record; storages freed after it are added until the next call."""
    __slots__ = ("op", "module", "host", "allocated", "freed")

    def __init__(self, op, module, host, allocated):
        self.op, self.module, self.host, self.allocated, self.freed = op, module, host, allocated, []

    def line(self):
        text = "k %d %d %d" % (self.op, self.module, self.host)
        if self.allocated:
            text += "".join(" +%d:%d" % pair for pair in self.allocated)
        if self.freed:
            text += "".join(" -%d" % s for s in self.freed)
        return text


class Program:
    """The device operations of one step. `save(path)` writes the file, `text()` returns it, `str()` is a summary."""

    def __init__(self, title="program"):
        self.title, self.code, self.units, self.assumed = title, [], [], {}
        self.world, self.rank, self.graph, self.tf32 = 1, 0, 0, 0
        self.tensors, self.ops, self.modules = {}, {}, []  # key -> id; [(parent, name, class)]
        self.tensor_keys, self.op_keys = [], []
        self.initial = []  # (storage, bytes, kind, tensor id or 0)
        self.events = []   # Call or a line of text

    def assume(self, text):
        self.assumed.setdefault(" ".join(text.split()), None)

    def tensor(self, fmt, shape, strides):
        key = (fmt, shape, strides)
        tid = self.tensors.get(key)
        if tid is None:
            tid = self.tensors[key] = len(self.tensor_keys) + 1
            self.tensor_keys.append(key)
        return tid

    def op(self, name, inputs, outputs, attributes):
        key = (name, inputs, outputs, attributes)
        oid = self.ops.get(key)
        if oid is None:
            oid = self.ops[key] = len(self.op_keys) + 1
            self.op_keys.append(key)
        return oid

    def module(self, parent, name, cls):
        self.modules.append((parent, word(name), word(cls)))
        return len(self.modules)

    def head(self):
        yield "jeoul-program %d" % VERSION
        yield "title %s" % " ".join(self.title.split())
        for package, version in self.code:
            yield "code %s %s" % (package, version)
        for name, count in self.units:
            yield "unit %s %d" % (name, count)
        yield "world %d %d" % (self.world, self.rank)
        yield "graph %d" % self.graph
        yield "tf32 %d" % self.tf32
        for text in self.assumed:
            yield "assume %s" % text

    def kinds(self):
        """Renumbers the tensors, modules and operators that the calls use, in order of first use."""
        t_new, o_new, m_new, lines = {}, {}, {0: 0}, []

        def tensor(tid):
            if tid not in t_new:
                t_new[tid] = len(t_new) + 1
                fmt, shape, strides = self.tensor_keys[tid - 1]
                text = "t %d %s %s" % (t_new[tid], fmt, "x".join(map(str, shape)) or "-")
                if not is_contiguous(shape, strides):
                    text += " " + "x".join(map(str, strides))
                lines.append(text)
            return t_new[tid]

        def module(mid):
            if mid not in m_new:
                parent, name, cls = self.modules[mid - 1]
                above = module(parent)
                m_new[mid] = len(m_new)
                lines.append("m %d %d %s %s" % (m_new[mid], above, name, cls))
            return m_new[mid]

        def op(oid):
            if oid not in o_new:
                name, inputs, outputs, attributes = self.op_keys[oid - 1]
                lists = [runs([tensor(t) for t in ids]) for ids in (inputs, outputs)]
                o_new[oid] = len(o_new) + 1
                lines.append(" ".join(["o %d %s" % (o_new[oid], name), *lists, *("%s=%s" % a for a in attributes)]))
            return o_new[oid]

        initial = [(s, n_B, kind, tensor(t) if t else 0) for s, n_B, kind, t in self.initial]
        calls, here = [], {s for s, _, _, _ in self.initial}
        for event in self.events:
            if isinstance(event, Call):
                call = Call(op(event.op), module(event.module), event.host, event.allocated)
                here.update(s for s, _ in event.allocated)
                call.freed = [s for s in event.freed if s in here]  # storages created outside the step are not freed in it
                here.difference_update(call.freed)
                calls.append(call.line())
            else:
                calls.append(event)
        return lines, initial, calls

    def lines(self):
        yield from self.head()
        kinds, initial, calls = self.kinds()
        yield from kinds
        for storage, n_B, kind, tid in initial:
            yield "a %d %d %s" % (storage, n_B, kind) + (" t %d" % tid if tid else "")
        yield from calls
        yield "end %d" % sum(1 for c in calls if c[0] in "kwcx")

    def text(self):
        return "\n".join(self.lines()) + "\n"

    def save(self, path):
        with open(path, "w", encoding="utf-8", newline="\n") as f:
            f.write(self.text())
        return self

    def calls(self):
        """(phase, operator, module path) of every call, for tests and users."""
        phase = "other"
        for event in self.events:
            if isinstance(event, Call):
                yield phase, self.op_keys[event.op - 1][0], self.path(event.module)
            elif event.startswith("p "):
                phase = event[2:]

    def path(self, mid):
        names = []
        while mid:
            parent, name, _ = self.modules[mid - 1]
            names.append(name)
            mid = parent
        return ".".join(reversed(names))

    def peak_B(self):
        live = peak = sum(n_B for _, n_B, _, _ in self.initial)
        sizes = {s: n_B for s, n_B, _, _ in self.initial}
        for event in self.events:
            if isinstance(event, Call):
                for s, n_B in event.allocated:
                    sizes[s] = n_B
                    live += n_B
                peak = max(peak, live)
                live -= sum(sizes.pop(s, 0) for s in event.freed)
        return peak

    def __str__(self):
        calls = [e for e in self.events if isinstance(e, Call)]
        waits = sum(1 for e in self.events if not isinstance(e, Call) and e[0] == "w")
        units = ", ".join("%d %s" % (n, name) for name, n in self.units) or "one step"
        kept_B = {}
        for _, n_B, kind, _ in self.initial:
            kept_B[kind] = kept_B.get(kind, 0) + n_B
        text = "%s: %s; %d calls of %d kinds, %d waits of the host; memory at its peak %.2f GB" % (
            self.title, units, len(calls), len({c.op for c in calls}), waits, self.peak_B() / 1e9)
        if kept_B:
            text += " (" + ", ".join("%s %.2f" % (k, v / 1e9) for k, v in sorted(kept_B.items(), key=lambda kv: -kv[1])) + " when the step begins)"
        return text + "".join("\nassumed: " + a for a in self.assumed)
