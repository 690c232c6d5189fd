#!/usr/bin/env python3
"""Captured programs against what must run: exact lists of calls, memory at the peak against the sum of what must live, nothing left changed.
Exits 77 where PyTorch 2.4 or newer is not installed."""
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
except ImportError:
    sys.exit(77)
if tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2]) < (2, 4):
    sys.exit(77)
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

SOURCE = os.environ.get("JEOUL_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(SOURCE, "python"))
import jeoul  # noqa: E402

warnings.simplefilter("ignore")
bad = []


def check(holds, what):
    if not holds:
        bad.append(what)
        print("FAILED:", what)


def same(got, wanted, what):
    got, wanted = list(got), list(wanted)
    if got != wanted:
        at = next((i for i, (g, w) in enumerate(zip(got, wanted)) if g != w), min(len(got), len(wanted)))
        check(False, "%s: call %d is %r, not %r\n  all: %s" % (what, at, got[at:at + 1], wanted[at:at + 1], got))


def names(program, phase=None, module=None):
    return [op for p, op, m in program.calls() if (phase is None or p == phase) and (module is None or m == module)]


def lines(program, letter):
    return [line for line in program.text().splitlines() if line.startswith(letter + " ")]


def up(n_B):
    return -(-n_B // 512) * 512


def loss_of(out, batch):
    return out.float().sum()


# --- a perceptron: the list, phases, memory ------------------------------------------------------------------------------------------

def test_mlp():
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 8))
    weights = [p.detach().clone() for p in model.parameters()]
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(32, 64)
    p = jeoul.capture(model, (batch,), optimizer, loss=loss_of)
    same(names(p, "forward"), ["aten.addmm", "aten.gelu", "jeoul.dropout", "aten.addmm", "aten.sum", "aten.ones_like"], "forward")
    same(names(p, "backward"), ["aten.mm", "aten.mm", "aten.sum.dim_IntList", "jeoul.dropout_backward", "aten.gelu_backward", "aten.mm",
                                "aten.sum.dim_IntList"], "backward")
    same([n.split(".")[1] for n in names(p, "update")], ["_foreach_mul_", "_foreach_lerp_", "_foreach_mul_", "_foreach_addcmul_", "_foreach_sqrt",
                                                         "_foreach_div_", "_foreach_add_", "_foreach_addcdiv_"], "update")
    same([op for _, op, m in p.calls() if m == "Sequential.1"], ["aten.gelu", "aten.gelu_backward"], "calls of one module")
    kinds = {}
    for sid, n_B, kind, _ in p.initial:
        kinds[kind] = kinds.get(kind, 0) + n_B
    parameters_B = sum(up(w.numel() * 4) for w in weights)
    check(kinds.get("param") == parameters_B, "parameters: %s" % kinds)
    check(kinds.get("state") == 2 * parameters_B, "states: %s" % kinds)
    check(kinds.get("input") == 32 * 64 * 4, "inputs: %s" % kinds)
    # the peak is the square root in the update: parameters, gradients, two states, the root; the batch, the output and the loss
    wanted_B = 5 * parameters_B + 32 * 64 * 4 + 32 * 8 * 4 + 512
    check(p.peak_B() == wanted_B, "peak %d, not %d" % (p.peak_B(), wanted_B))
    check(all(torch.equal(a, b) for a, b in zip(weights, model.parameters())), "weights changed")
    check(all(w.grad is None for w in model.parameters()) and not optimizer.state, "gradients or states left behind")
    check(p.units == [("samples", 32)], "units %s" % p.units)
    check(not torch.cuda.is_available() or torch.version.cuda, "stand-ins left behind")
    loss_of(model(batch), batch).backward()
    optimizer.step()
    check(not torch.equal(weights[0], model[0].weight), "the model no longer trains")


# --- two optimizers in one step -----------------------------------------------------------------------------------------------------------

def test_two_optimizers():
    """A step of each is kept, also where one steps more often; the first of the program's steps is forgotten."""
    for n_first in (1, 3):
        first, second = nn.Linear(8, 8), nn.Linear(8, 1)
        optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, foreach=True) for m in (first, second)]
        with jeoul.capture() as p:
            for _ in range(3):
                for _ in range(n_first):
                    first(torch.randn(4, 8, device="cuda")).sum().backward()
                    optimizers[0].step()
                second(torch.randn(4, 8, device="cuda")).sum().backward()
                optimizers[1].step()
        updates = [n for n in names(p) if n.startswith("aten._foreach_add_")]
        check(len(updates) == n_first + 1, "%d updates, not %d" % (len(updates), n_first + 1))


def test_attention_parts():
    """Fused kernels take rows that lie side by side, and as many heads of keys as of queries; all else runs as its parts."""
    def ops(turn, heads):
        with jeoul.capture() as p:
            q = torch.randn(2, 8, 64, 64, device="cuda", dtype=torch.bfloat16)
            k = torch.randn(2, heads, 64, 64, device="cuda", dtype=torch.bfloat16)
            F.scaled_dot_product_attention(q.transpose(-1, -2) if turn else q, k, k)
        return names(p)
    check("jeoul.sdpa" in ops(False, 8), "plain attention is not fused")
    check("jeoul.sdpa" not in ops(True, 8) and "aten.bmm" in ops(True, 8), "turned attention is fused")
    check("jeoul.sdpa" not in ops(False, 1), "attention with broadcast heads is fused")


# --- attention, autocast ---------------------------------------------------------------------------------------------------------------

class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.norm, self.qkv, self.out = heads, nn.LayerNorm(width), nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x):
        b, s, w = x.shape
        q, k, v = (t.view(b, s, self.heads, w // self.heads).transpose(1, 2) for t in self.qkv(self.norm(x)).split(w, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(b, s, w))


def test_block():
    with jeoul.capture() as p:
        model = Block().cuda()
        x = torch.randn(2, 128, 64, device="cuda")
        check(x.device == torch.device("cuda:0") and x.is_cuda and next(model.parameters()).is_cuda, "devices")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            y = model(x)
        y.sum().backward()
    # autocast casts the input and each weight once; the output of attention is in the order that makes the transpose free
    same(names(p, "forward"), ["aten.native_layer_norm", "aten._to_copy", "aten._to_copy", "aten.mm", "jeoul.sdpa", "aten._to_copy", "aten.mm",
                               "aten.add.Tensor", "aten.sum", "aten.ones_like"], "block forward")
    same(names(p, "backward")[:3], ["aten._to_copy", "aten.mm", "aten.mm"], "block backward")
    check("jeoul.sdpa_backward" in names(p, "backward") and not any("bernoulli" in n for n in names(p)), "attention backward")
    check(any(" backend=flash" in line for line in lines(p, "o")), "bf16 causal attention is flash")


def test_autocast_lists():
    with jeoul.capture():
        x = torch.randn(8, 16, device="cuda")
        w = nn.Parameter(torch.randn(16, 16)).cuda()
        with torch.autocast("cuda", dtype=torch.float16):
            h = x @ w
            check(h.dtype is torch.float16, "products in fp16")
            check(h.softmax(-1).dtype is torch.float32 and h.exp().dtype is torch.float32 and h.sum().dtype is torch.float32, "softmax, exp, sum in fp32")
            check(h.pow(2).dtype is torch.float32 and F.layer_norm(h, (16,)).dtype is torch.float32, "pow, layer_norm in fp32")
            check(F.gelu(h).dtype is torch.float16 and (h + x).dtype is torch.float32, "gelu as it comes, sums in the wider")
            check(torch.is_autocast_enabled() and torch.get_autocast_gpu_dtype() is torch.float16, "autocast state")
        check(not torch.is_autocast_enabled(), "autocast off")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        check(torch.randn(4, 4).bfloat16().softmax(-1).dtype is torch.bfloat16, "autocast of the host as it was")


# --- a convolutional network -----------------------------------------------------------------------------------------------------------

class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(x + self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True))))


def test_convolutions():
    with jeoul.capture() as p:
        model = nn.Sequential(nn.Conv2d(3, 16, 7, stride=2, padding=3, bias=False), Residual(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
        model = model.cuda().to(memory_format=torch.channels_last)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(2):
            x = torch.randn(4, 3, 32, 32).to(memory_format=torch.channels_last).pin_memory().to("cuda", non_blocking=True)
            loss = F.cross_entropy(model(x), torch.zeros(4, dtype=torch.int64, device="cuda"))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    same(names(p, "forward"), ["aten.convolution", "aten.convolution", "aten.add_.Tensor", "aten.native_batch_norm", "aten.relu_", "aten.convolution", "aten.add_.Tensor",
                               "aten.native_batch_norm", "aten.add.Tensor", "aten.relu", "aten.mean.dim", "aten.addmm"], "network forward")
    check(names(p, "backward").count("aten.convolution_backward") == 3 and names(p, "backward").count("aten.native_batch_norm_backward") == 2, "backward")
    check(names(p, "input")[0] == "jeoul.copy" and "pinned=1" in "".join(lines(p, "o")) and not lines(p, "w"), "a pinned copy does not wait")
    check(any(line.endswith(" f32 4x16x16x16 4096x1x256x16") for line in lines(p, "t")), "channels last: %s" % lines(p, "t"))
    same([n for n in names(p, "update") if "foreach" in n], ["aten._foreach_mul_.Scalar", "aten._foreach_add_.List", "aten._foreach_add_.List"], "SGD")


# --- recurrent, mixture, recomputed, accumulated ------------------------------------------------------------------------------------------

def test_lstm():
    model = nn.LSTM(32, 64, num_layers=2, dropout=0.2)
    p = jeoul.capture(model, (torch.randn(10, 4, 32),), loss=lambda out, batch: out[0].sum(), steps=1)
    same([n for n in names(p) if "rnn" in n], ["jeoul.rnn", "jeoul.rnn_backward"], "LSTM")
    check("kind=lstm layers=2 hidden=64 bidirectional=0 dropout=0.2 bias=1" in "".join(lines(p, "o")), "LSTM's attributes")


class Mixture(nn.Module):
    def __init__(self, width=16, n=8, k=2):
        super().__init__()
        self.router, self.experts, self.n, self.k = nn.Linear(width, n), nn.ModuleList(nn.Linear(width, width) for _ in range(n)), n, k

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(self.k)
        mask = F.one_hot(chosen, self.n).permute(2, 1, 0)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            place, token = torch.where(mask[i])
            out.index_add_(0, token, expert(x[token]) * weights[token, place, None])
        return out


def test_mixture():
    with jeoul.capture() as p:
        model = Mixture().cuda()
        model(torch.randn(256, 16, device="cuda")).sum().backward()
    check(names(p, "forward").count("aten.nonzero") == 8 and len([w for w in lines(p, "w") if w == "w nonzero"]) == 8, "one nonzero an expert, and a wait")
    sizes = {line.split()[-1] for line in lines(p, "t")}
    check("64x16" in sizes and "128x16" not in sizes, "tokens spread evenly: 256 * 2 / 8 = 64: %s" % sizes)
    check(any("evenly" in a for a in p.assumed), "said: %s" % list(p.assumed))


def test_checkpointing():
    from torch.utils.checkpoint import checkpoint

    def run(recompute):
        with jeoul.capture() as p:
            model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)).cuda()
            x = torch.randn(512, 64, device="cuda", requires_grad=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                y = checkpoint(model, x, use_reentrant=False) if recompute else model(x)
            y.float().sum().backward()
        return p

    plain, again = run(False), run(True)
    check(names(plain).count("aten.gelu") == 1 and names(again).count("aten.gelu") == 2, "the forward pass is run again")
    check(names(again, "backward").count("aten.gelu") == 1, "again inside backward")
    check(names(again, "backward", "Sequential.1") == ["aten.gelu", "aten.gelu_backward"], "under its module: %s" % names(again, "backward", "Sequential.1"))


def test_accumulation():
    with jeoul.capture() as p:
        model = nn.Linear(64, 64).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            for _ in range(3):
                x = torch.randn(8, 64).cuda()
                (model(x).sum() / 3).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    check(names(p, "forward").count("aten.addmm") == 3 and p.units == [("samples", 24)], "three forward passes, 24 samples: %s" % p.units)
    check(names(p, "backward").count("aten.add_.Tensor") == 4, "gradients are added twice, weight and bias: %s" % names(p, "backward"))
    check(names(p, "update")[0] == "aten._foreach_norm.Scalar", "clipping: %s" % names(p, "update"))
    check(len([w for w in lines(p, "w") if w == "w copy"]) == 3, "a pageable copy a pass waits")


class Mlp(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def test_compiled():
    def run(wrap):
        with jeoul.capture() as p:
            model = Mlp().cuda()
            wrapped = wrap(model)
            optimizer = torch.optim.AdamW(model.parameters())
            for _ in range(2):
                wrapped(torch.randn(4096, 64, device="cuda")).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        return p

    plain, compiled = run(lambda m: m), run(torch_compile)
    check(not compiled.assumed, "compiled: %s" % list(compiled.assumed))
    # a norm, a product, an activation, a product, the residual sum; the sum and the seed of backward are outside of the model
    same(names(compiled, "forward"), ["jeoul.fused", "aten.addmm", "jeoul.fused", "aten.addmm", "jeoul.fused", "aten.sum", "aten.ones_like"], "compiled forward")
    # the gradient that comes in is made contiguous; the activation is computed again and not kept
    same(names(compiled, "backward"), ["aten.clone", "aten.mm", "aten.mm", "jeoul.fused", "aten.mm", "aten.mm", "jeoul.fused", "jeoul.fused"], "compiled backward")
    same(names(compiled, "update"), names(plain, "update"), "the update is as it was")
    check(compiled.peak_B() < 1.2 * plain.peak_B(), "memory %d, plain %d" % (compiled.peak_B(), plain.peak_B()))


def torch_compile(model):
    return torch.compile(model)


# --- values that are known, and the host's waits --------------------------------------------------------------------------------------------

def test_values():
    with jeoul.capture() as p:
        lengths = torch.tensor([3, 5, 2]).to("cuda")
        check(lengths.max().item() == 5 and lengths.tolist() == [3, 5, 2], "small tensors keep their values")
        mask = torch.arange(5, device="cuda")[None] < lengths[:, None]
        check(mask.nonzero().shape == (10, 2) and torch.randn(3, 5, device="cuda")[mask].shape == (10,), "and what follows from them")
        check(not bool(torch.isnan(torch.randn(100, 1000, device="cuda")).any()), "no NaN is assumed")
        check(torch.randn(1000, 1000, device="cuda").relu().nonzero().shape[0] == 500000, "half is assumed")
    check(any("half" in a for a in p.assumed), "said")
    check("w item" in lines(p, "w") and "w nonzero" in lines(p, "w"), "waits")


# --- the file, the command --------------------------------------------------------------------------------------------------------------

def test_file():
    with jeoul.capture() as p:
        model = nn.Linear(8, 8).cuda()
        model(torch.ones(4, 8, device="cuda")).sum().backward()
    text = p.text().splitlines()
    check(text[0] == "jeoul-program 1" and text[-1] == "end %d" % sum(line[0] in "kwcx" and line[1] == " " for line in text), "head and end")
    order = {"t": 0, "o": 0, "m": 0, "a": 1, "p": 2, "k": 2, "w": 2}
    ranks = [order[line.split()[0]] for line in text if line.split()[0] in order]
    check(ranks == sorted(ranks), "order of records")
    seen, live = set(), set()
    for line in text:
        f = line.split()
        if f[0] in "tom" and len(f[0]) == 1:
            seen.add(f[0] + f[1])
        if f[0] == "o":
            check(all("t" + x.split("*")[0] in seen for part in f[3:5] if part != "-" for x in part.split(",")), "tensors before use: " + line)
        if f[0] == "a":
            live.add(f[1])
        if f[0] == "k":
            check("o" + f[1] in seen and (f[2] == "0" or "m" + f[2] in seen), "kinds before use: " + line)
            for x in f[4:]:
                if x[0] == "+":
                    live.add(x[1:].split(":")[0])
                else:
                    check(x[1:] in live, "freed, not live: " + line)
                    live.discard(x[1:])


SCRIPT = """
import sys, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(16, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
loader = DataLoader(TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,))), batch_size=8, num_workers=2, pin_memory=True)
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"{loss.item():.2f}")
sys.exit("not reached")
"""


def command(script, *options):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "train.py"), os.path.join(folder, "out.jprog")
        with open(path, "w") as f:
            f.write(script)
        env = {**os.environ, "PYTHONPATH": os.path.join(SOURCE, "python"), "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([sys.executable, "-m", "jeoul", "capture", "-o", out, *options, path], capture_output=True, text=True, env=env, cwd=folder)
        text = open(out).read() if os.path.exists(out) else ""
        return done.returncode, done.stderr, text


PARALLEL = """
import os, torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("nccl")
model = DistributedDataParallel(nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(3)]).cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.randn(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    dist.barrier()
"""


def test_parallel():
    code, said, text = command(PARALLEL, "--world", "8")
    lines = text.splitlines()
    check(code == 0 and "world 8 0" in lines, "a group of 8: %s" % said)
    collectives = [line for line in lines if line.startswith(("c ", "x "))]
    reduced = [line.split() for line in collectives if line.startswith("c all_reduce")]
    # the first bucket closes at 1 MB, the second at 25: one matrix of 4 MB, then two
    check([r[2:4] for r in reduced] == [["4194304", "8"], ["8388608", "8"]], "buckets: %s" % collectives)
    check(collectives[-2:] == ["x " + r[4][6:] for r in reduced], "waited for at the end: %s" % collectives)
    check(sum(int(line.split()[2]) for line in lines if line.startswith("a ") and line.split()[3] == "other") >= 12 << 20, "memory of the buckets")


def test_command():
    code, said, text = command(SCRIPT)
    check(code == 0 and "aten._amp_foreach_non_finite_check_and_unscale_" in text and "unit samples 8" in text and "title train.py" in text, "a script: %s" % said)
    code, said, text = command("import torch\nmodel = torch.nn.Linear(4, 4).cuda().eval()\nwith torch.no_grad():\n    for n in (2, 3):\n        model(torch.randn(n, 4).cuda())\n")
    check(code == 0 and text.count("\nk ") == 1 and "unit samples 3" in text, "the last forward pass: %s %s" % (said, text))
    code, said, text = command("print('nothing')\n")
    check(code == 1 and "ran no model" in said and not text, "no model: %s" % said)
    code, said, text = command("import torch\nx = torch.randn(2, 3, device='cuda')\ny = x @ x\n")
    check(code == 1 and "train.py:3: y = x @ x" in said, "the line: %s" % said)
    code, said, text = command("while True: pass\n", "--timeout", "2")
    check(code == 1 and "--timeout" in said, "a script without end: %s" % said)


for name, test in list(globals().items()):
    if name.startswith("test_") and (len(sys.argv) < 2 or name in sys.argv[1:]):
        try:
            test()
        except Exception as error:
            import traceback
            traceback.print_exc()
            check(False, "%s: %r" % (name, error))
print("FAILED" if bad else "passed")
sys.exit(1 if bad else 0)
