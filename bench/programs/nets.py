"""Small networks as in common training loops outside large libraries, on torch.nn only."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class RecurrentLM(nn.Module):
	"""Embedding, LSTM or GRU, projection: a word-level language model."""

	def __init__(self, kind, vocab, embed, hidden, layers, dropout):
		super().__init__()
		self.embed = nn.Embedding(vocab, embed)
		self.rnn = getattr(nn, kind.upper())(embed, hidden, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)
		self.drop, self.head = nn.Dropout(dropout), nn.Linear(hidden, vocab)

	def forward(self, ids):
		return self.head(self.drop(self.rnn(self.drop(self.embed(ids)))[0]))


class Resnet(nn.Module):
	"""A residual block of a diffusion U-Net: the time embedding is added between its convolutions."""

	def __init__(self, c_in, c_out, time):
		super().__init__()
		self.norm1, self.conv1 = nn.GroupNorm(min(32, c_in // 4), c_in), nn.Conv2d(c_in, c_out, 3, padding=1)
		self.time = nn.Linear(time, c_out)
		self.norm2, self.conv2 = nn.GroupNorm(min(32, c_out // 4), c_out), nn.Conv2d(c_out, c_out, 3, padding=1)
		self.skip = nn.Conv2d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

	def forward(self, x, t):
		h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(t))[:, :, None, None]
		return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class PixelAttention(nn.Module):
	def __init__(self, c, heads):
		super().__init__()
		self.norm, self.qkv, self.out, self.heads = nn.GroupNorm(min(32, c // 4), c), nn.Conv2d(c, 3 * c, 1), nn.Conv2d(c, c, 1), heads

	def forward(self, x):
		n, c, h, w = x.shape
		q, k, v = self.qkv(self.norm(x)).reshape(n, 3, self.heads, c // self.heads, h * w).transpose(-1, -2).unbind(1)
		y = F.scaled_dot_product_attention(q, k, v)
		return x + self.out(y.transpose(-1, -2).reshape(n, c, h, w))


class Unet(nn.Module):
	"""Noise predictor of a diffusion model: residual blocks, attention on coarse levels, skip connections."""

	def __init__(self, width, multipliers, blocks, coarse, heads=4, channels=3):
		super().__init__()
		time, c = 4 * width, width
		self.width = width
		self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
		self.first, skips = nn.Conv2d(channels, width, 3, padding=1), [width]
		self.down, self.up = nn.ModuleList(), nn.ModuleList()
		for level, m in enumerate(multipliers):
			for _ in range(blocks):
				self.down.append(nn.ModuleList([Resnet(c, m * width, time), PixelAttention(m * width, heads) if level >= coarse else nn.Identity()]))
				c = m * width
				skips.append(c)
			if level < len(multipliers) - 1:
				self.down.append(nn.Conv2d(c, c, 3, 2, 1))
				skips.append(c)
		self.middle = nn.ModuleList([Resnet(c, c, time), PixelAttention(c, heads), Resnet(c, c, time)])
		for level, m in reversed(list(enumerate(multipliers))):
			for i in range(blocks + 1):
				self.up.append(nn.ModuleList([Resnet(c + skips.pop(), m * width, time), PixelAttention(m * width, heads) if level >= coarse else nn.Identity()]))
				c = m * width
			if level:
				self.up.append(nn.Conv2d(c, c, 3, padding=1))
		self.norm, self.last = nn.GroupNorm(min(32, c // 4), c), nn.Conv2d(c, channels, 3, padding=1)

	def forward(self, x, t):
		rate = torch.exp(-math.log(10000.0) * torch.arange(self.width // 2, device=x.device) / (self.width // 2))
		angle = t[:, None].float() * rate[None]
		t = self.time(torch.cat((angle.sin(), angle.cos()), -1).to(x.dtype))
		x = self.first(x)
		kept = [x]
		for part in self.down:
			x = part(x) if isinstance(part, nn.Conv2d) else part[1](part[0](x, t))
			kept.append(x)
		x = self.middle[2](self.middle[1](self.middle[0](x, t)), t)
		for part in self.up:
			if isinstance(part, nn.Conv2d):
				x = part(F.interpolate(x, scale_factor=2.0, mode="nearest"))
			else:
				x = part[1](part[0](torch.cat((x, kept.pop()), 1), t))
		return self.last(F.silu(self.norm(x)))


def mlp(*widths):
	layers = []
	for a, b in zip(widths, widths[1:]):
		layers += [nn.Linear(a, b), nn.ReLU()]
	return nn.Sequential(*layers[:-1])


class Recommender(nn.Module):
	"""MLP on dense features, embedding bags on sparse ones, pairwise dot products, MLP on top."""

	def __init__(self, tables, rows, dim, dense, bottom, top, sparse):
		super().__init__()
		self.bags = nn.ModuleList(nn.EmbeddingBag(rows, dim, mode="sum", sparse=sparse) for _ in range(tables))
		self.bottom = mlp(dense, *bottom, dim)
		n = tables + 1
		self.top = mlp(dim + n * (n - 1) // 2, *top, 1)
		pairs = torch.tril_indices(n, n, -1)
		self.register_buffer("rows", pairs[0])
		self.register_buffer("columns", pairs[1])

	def forward(self, dense, ids, offsets):
		x = self.bottom(dense)
		z = torch.stack([x, *(bag(i, offsets) for bag, i in zip(self.bags, ids))], 1)
		pairs = (z @ z.transpose(1, 2))[:, self.rows, self.columns]
		return self.top(torch.cat((x, pairs), 1)).squeeze(1)


class Seq2Seq(nn.Module):
	"""torch.nn.Transformer as its tutorial uses it."""

	def __init__(self, vocab, hidden, heads, layers, ffn, longest):
		super().__init__()
		self.embed, self.positions = nn.Embedding(vocab, hidden), nn.Parameter(torch.zeros(1, longest, hidden))
		self.body = nn.Transformer(hidden, heads, layers, layers, ffn, batch_first=True)
		self.head = nn.Linear(hidden, vocab)

	def place(self, ids):
		return self.embed(ids) * math.sqrt(self.embed.embedding_dim) + self.positions[:, : ids.shape[1]]

	def forward(self, source, target):
		mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
		return self.head(self.body(self.place(source), self.place(target), tgt_mask=mask, tgt_is_causal=True))


class Digits(nn.Module):
	"""The network of the MNIST example."""

	def __init__(self, width):
		super().__init__()
		self.body = nn.Sequential(nn.Conv2d(1, width, 3), nn.ReLU(), nn.Conv2d(width, 2 * width, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
			nn.Linear(2 * width * 144, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10), nn.LogSoftmax(1))

	def forward(self, x):
		return self.body(x)


def generator(latent, width, image):
	layers, c = [nn.ConvTranspose2d(latent, width * image // 8, 4, 1, 0, bias=False), nn.BatchNorm2d(width * image // 8), nn.ReLU(True)], width * image // 8
	for _ in range(int(math.log2(image)) - 3):
		layers += [nn.ConvTranspose2d(c, c // 2, 4, 2, 1, bias=False), nn.BatchNorm2d(c // 2), nn.ReLU(True)]
		c //= 2
	return nn.Sequential(*layers, nn.ConvTranspose2d(c, 3, 4, 2, 1, bias=False), nn.Tanh())


def discriminator(width, image):
	layers, c = [nn.Conv2d(3, width, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True)], width
	for _ in range(int(math.log2(image)) - 3):
		layers += [nn.Conv2d(c, 2 * c, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * c), nn.LeakyReLU(0.2, True)]
		c *= 2
	return nn.Sequential(*layers, nn.Conv2d(c, 1, 4, 1, 0, bias=False), nn.Flatten())
