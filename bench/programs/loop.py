"""One pass of a training or inference loop around a model: precision, optimizer, clipping, accumulation, input copies. It knows no
model; the tables of families (hub.py, vision.py, plain.py) give it model, inputs and loss.

A row of a draw is a dict. Keys that every family takes: mode (train, forward), precision (fp32: PyTorch's defaults, so convolutions may use
TF32; tf32: matrix products too; bf16: weights in bf16; amp-bf16 and amp-fp16: autocast over fp32 weights, the latter with GradScaler), optimizer, clip, accumulate, read_loss,
input (device: tensors stay on the GPU; pinned, pageable: copied in each step), compile, layout.
"""
import contextlib
import os

import torch

DEVICE = os.environ.get("JEOUL_ZOO_DEVICE", "cuda")
AMP = {"amp-bf16": torch.bfloat16, "amp-fp16": torch.float16}
OPTIMIZERS = {
	"adamw": lambda p: torch.optim.AdamW(p, lr=1e-5, weight_decay=0.01),
	"adamw-fused": lambda p: torch.optim.AdamW(p, lr=1e-5, weight_decay=0.01, fused=True),
	"adam": lambda p: torch.optim.Adam(p, lr=1e-5),
	"sgd": lambda p: torch.optim.SGD(p, lr=1e-4, momentum=0.9, weight_decay=1e-4),
	"sgd-plain": lambda p: torch.optim.SGD(p, lr=1e-4),
	"rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-5),
}


def tree_map(f, x):
	if isinstance(x, torch.Tensor):
		return f(x)
	if isinstance(x, dict):
		return {k: tree_map(f, v) for k, v in x.items()}
	if isinstance(x, (list, tuple)):
		return type(x)(tree_map(f, v) for v in x)
	return x


def set_precision(precision):
	"""PyTorch's switches are global, so each program sets all of them."""
	torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
	torch.backends.cudnn.allow_tf32 = True
	torch.backends.cudnn.benchmark = False


class Loop:
	"""step() runs one pass. loss(model, inputs) returns the loss, or the outputs of a forward pass."""

	def __init__(self, r, model, inputs, loss):
		self.r, self.loss, self.train = r, loss, r.get("mode", "train") == "train"
		if r["precision"] == "bf16":
			model = model.to(torch.bfloat16)
			inputs = tree_map(lambda t: t.to(torch.bfloat16) if t.is_floating_point() else t, inputs)
		if r.get("layout") == "channels_last":
			model = model.to(memory_format=torch.channels_last)
			inputs = tree_map(lambda t: t.to(memory_format=torch.channels_last) if t.dim() == 4 else t, inputs)
		self.model = model.train(self.train)
		self.call = torch.compile(model) if r.get("compile") else model
		self.optimizer = OPTIMIZERS[r.get("optimizer", "adamw")](model.parameters()) if self.train else None
		self.scaler = torch.amp.GradScaler(DEVICE) if self.train and r["precision"] == "amp-fp16" else None
		self.host = None
		if r.get("input", "device") != "device":
			self.host = tree_map(lambda t: t.cpu(), inputs)
			if r["input"] == "pinned" and DEVICE == "cuda":
				self.host = tree_map(lambda t: t.pin_memory(), self.host)
			inputs = None
		self.inputs = inputs

	def cast(self):
		half = AMP.get(self.r["precision"])
		return torch.autocast(DEVICE, dtype=half) if half else contextlib.nullcontext()

	def fetch(self):
		if self.host is None:
			return self.inputs
		return tree_map(lambda t: t.to(DEVICE, non_blocking=self.r["input"] == "pinned"), self.host)

	def forward(self):
		with torch.inference_mode() if self.r.get("no_grad") == "inference" else torch.no_grad(), self.cast():
			return self.loss(self.call, self.fetch())

	def update(self):
		if self.scaler:
			if self.r.get("clip"):
				self.scaler.unscale_(self.optimizer)
				torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.r["clip"])
			self.scaler.step(self.optimizer)
			self.scaler.update()
		else:
			if self.r.get("clip"):
				torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.r["clip"])
			self.optimizer.step()
		self.optimizer.zero_grad()

	def step(self):
		if not self.train:
			return self.forward()
		n = self.r.get("accumulate", 1)
		for _ in range(n):
			with self.cast():
				loss = self.loss(self.call, self.fetch())
			if n > 1:
				loss = loss / n
			(self.scaler.scale(loss) if self.scaler else loss).backward()
		self.update()
		return loss.item() if self.r.get("read_loss") else loss.detach()


def tokens(vocab, *shape):
	return torch.randint(0, vocab, shape, device=DEVICE)


def noise(*shape):
	return torch.randn(*shape, device=DEVICE)


def padding_mask(kind, n, seq):
	"""Attention mask as from a tokenizer: none, ones, or ones up to each sample's length."""
	if kind == "ones":
		return {"attention_mask": torch.ones(n, seq, dtype=torch.long, device=DEVICE)}
	if kind == "padded":
		length = torch.randint(max(1, seq // 2), seq + 1, (n, 1), device=DEVICE)
		return {"attention_mask": (torch.arange(seq, device=DEVICE) < length).long()}
	return {}
