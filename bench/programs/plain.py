"""Loops outside transformers and torchvision: recurrent, graph, diffusion, recommendation, speech, adversarial, small networks."""
from rows import Cost, Family, power


def samples(r):
	return {"samples": r["batch"]}


def half(r):
	return 1 if r["precision"] in ("tf32", "fp32") else 0.6


def placed(r, make):
	"""Moves the model to its device and sets the precision switches."""
	import torch

	import loop

	loop.set_precision(r["precision"])
	with torch.device(loop.DEVICE):
		return make()


def recurrent(kind):
	def draw(pick):
		hidden = pick.choice([256, 512, 650, 1024, 1500, 2048])
		return dict(hidden=hidden, embed=pick.choice([hidden, 256, 512]), layers=pick.choice([1, 2, 2, 3, 4]), vocab=pick.choice([10000, 33278, 50257]), seq=pick.choice([35, 64, 128, 256]), batch=power(pick, 4, 256), dropout=pick.choice([0.0, 0.2, 0.5]))

	def cost(r):
		gates, e = 4 if kind == "lstm" else 3, r["batch"] * r["seq"]
		params = gates * r["hidden"] * (r["embed"] + r["hidden"] + 2 * r["hidden"] * (r["layers"] - 1))
		return Cost(params + r["vocab"] * (r["embed"] + r["hidden"]), 2 * e * (2.5 * params + r["vocab"] * r["hidden"]), e * r["hidden"] * r["layers"] * 4 * (gates + 4), 14 * e * r["vocab"], launches=r["seq"] * r["layers"])

	def build(r):
		import loop
		import nets
		from torch.nn.functional import cross_entropy

		model = placed(r, lambda: nets.RecurrentLM(kind, r["vocab"], r["embed"], r["hidden"], r["layers"], r["dropout"]))
		inputs = (loop.tokens(r["vocab"], r["batch"], r["seq"]), loop.tokens(r["vocab"], r["batch"], r["seq"]))
		return loop.Loop(r, model, inputs, lambda call, x: cross_entropy(call(x[0]).flatten(0, 1), x[1].flatten()) if r["mode"] == "train" else call(x[0]))

	return Family(kind + "_lm", "plain", draw, cost, lambda r: {"samples": r["batch"], "tokens": r["batch"] * r["seq"]}, build, "single")


def graph(name, model):
	"""Full-graph training with a given edge list, as in the torch-geometric examples on citation graphs."""

	def draw(pick):
		nodes = pick.choice([2708, 10000, 19717, 50000, 169343])
		return dict(nodes=nodes, edges=nodes * pick.choice([4, 8, 14, 25]), features=pick.choice([64, 128, 500, 1433]), hidden=pick.choice([64, 128, 256]), layers=pick.choice([2, 3, 4]), classes=pick.choice([7, 40]),
			dropout=pick.choice([0.0, 0.5]), heads=pick.choice([1, 4, 8]) if name == "gat" else 1, batch=1)

	def cost(r):
		wide = max(r["hidden"], r["features"])
		return Cost(r["features"] * r["hidden"] * 2 + 2 * r["layers"] * r["hidden"] ** 2, 2 * r["nodes"] * wide * r["hidden"] * r["layers"], 4 * (r["edges"] * r["hidden"] * r["layers"] * 2.5 + 6 * r["nodes"] * wide), 4 * r["edges"] * r["features"], launches=200)

	def build(r):
		import torch
		import torch_geometric.nn.models as library

		import loop
		from torch.nn.functional import cross_entropy

		extra = {"heads": r["heads"]} if name == "gat" else {}
		net = placed(r, lambda: getattr(library, model)(r["features"], r["hidden"], r["layers"], r["classes"], dropout=r["dropout"], **extra))
		edges = torch.randint(0, r["nodes"], (2, r["edges"]), device=loop.DEVICE)
		inputs = (loop.noise(r["nodes"], r["features"]), edges, loop.tokens(r["classes"], r["nodes"]), torch.rand(r["nodes"], device=loop.DEVICE) < 0.5)

		def loss(call, x):
			out = call(x[0], x[1])
			return cross_entropy(out[x[3]], x[2][x[3]]) if r["mode"] == "train" else out

		return loop.Loop(r, net, inputs, loss)

	return Family(name, "plain", draw, cost, lambda r: {"graphs": 1}, build, "single", {"no-bf16"})


def unet():
	def draw(pick):
		return dict(width=pick.choice([64, 96, 128, 192]), multipliers=pick.choice([[1, 2, 2], [1, 2, 2, 2], [1, 2, 4], [1, 2, 3, 4]]), blocks=pick.choice([1, 2, 2]), coarse=pick.choice([1, 2]), image=pick.choice([32, 64, 64, 128]), batch=power(pick, 2, 256))

	def cost(r):
		flop = params = act = 0
		for level, m in enumerate(r["multipliers"]):
			c, pixels, n = m * r["width"], (r["image"] >> level) ** 2, 2 * r["blocks"] + 1.5
			params += n * 22 * c * c
			flop += 2 * pixels * n * 22 * c * c + (n * 4 * pixels**2 * c if level >= r["coarse"] else 0)
			act += 4 * pixels * c * n * 12
		return Cost(params, flop * r["batch"], act * r["batch"] * half(r), launches=60 * len(r["multipliers"]) * r["blocks"])

	def build(r):
		import torch

		import loop
		import nets

		model = placed(r, lambda: nets.Unet(r["width"], r["multipliers"], r["blocks"], r["coarse"]))
		picture = loop.noise(r["batch"], 3, r["image"], r["image"])
		kept = torch.linspace(0.999, 0.01, 1000, device=loop.DEVICE)

		def loss(call, x):
			if r["mode"] != "train":
				return call(x[0], torch.full((r["batch"],), 500, device=loop.DEVICE))
			t = torch.randint(0, 1000, (r["batch"],), device=loop.DEVICE)
			a, noise = kept[t][:, None, None, None].to(x[0].dtype), torch.randn_like(x[0])
			return torch.nn.functional.mse_loss(call(a.sqrt() * x[0] + (1 - a).sqrt() * noise, t), noise)

		return loop.Loop(r, model, (picture,), loss)

	return Family("unet", "plain", draw, cost, lambda r: {"images": r["batch"]}, build, "vision", {"compiles"})


def recommender():
	def draw(pick):
		return dict(tables=pick.choice([8, 16, 26]), rows=pick.choice([10000, 100000, 400000]), dim=pick.choice([16, 32, 64, 128]), bag=pick.choice([1, 1, 4, 20]), dense=13, bottom=[512, 256], top=pick.choice([[512, 256], [1024, 1024, 512, 256]]),
			sparse=pick.choice([0, 0, 1]), batch=power(pick, 256, 32768))

	def cost(r):
		n = r["tables"] + 1
		dense = 13 * 512 + 512 * 256 + 256 * r["dim"] + (r["dim"] + n * n // 2) * r["top"][0] + sum(a * b for a, b in zip(r["top"], r["top"][1:]))
		return Cost(dense + r["tables"] * r["rows"] * r["dim"], 2 * r["batch"] * (dense + n * n * r["dim"]), 4 * r["batch"] * (4 * n * r["dim"] + 2 * n * n + 4 * sum(r["top"])), launches=100 + 6 * r["tables"])

	def build(r):
		import torch

		import loop
		import nets

		model = placed(r, lambda: nets.Recommender(r["tables"], r["rows"], r["dim"], r["dense"], r["bottom"], r["top"], bool(r["sparse"])))
		ids = [loop.tokens(r["rows"], r["batch"] * r["bag"]) for _ in range(r["tables"])]
		inputs = (loop.noise(r["batch"], r["dense"]), ids, torch.arange(0, r["batch"] * r["bag"], r["bag"], device=loop.DEVICE), torch.randint(0, 2, (r["batch"],), device=loop.DEVICE).float())
		return loop.Loop(r, model, inputs, lambda call, x: torch.nn.functional.binary_cross_entropy_with_logits(call(*x[:3]), x[3]) if r["mode"] == "train" else call(*x[:3]))

	def settle(r):
		"""Sparse gradients: incompatible with momentum, clipping and gradient scaling."""
		if r["sparse"] and r["mode"] == "train":
			r.update(optimizer="sgd-plain", precision="tf32" if r["precision"].startswith("amp") else r["precision"])
			r.pop("clip", None)

	return Family("dlrm", "plain", draw, cost, samples, build, "single", {"no-bf16"}, settle)


def conformer():
	def draw(pick):
		width, heads = pick.choice([(80, 4), (144, 4), (256, 4), (512, 8)])
		return dict(width=width, heads=heads, layers=pick.choice([4, 8, 16]), frames=pick.choice([200, 400, 800, 1600]), kernel=31, batch=power(pick, 1, 64))

	def cost(r):
		e, w = r["batch"] * r["frames"], r["width"]
		return Cost(r["layers"] * 26 * w * w, e * r["layers"] * (52 * w * w + 4 * r["frames"] * w), e * r["layers"] * w * 4 * 60 * half(r) + 4 * e * r["layers"] * r["heads"] * r["frames"] * 3, launches=r["layers"] * 60)

	def build(r):
		import torch
		import torchaudio

		import loop

		model = placed(r, lambda: torch.nn.ModuleList([torchaudio.models.Conformer(r["width"], r["heads"], 4 * r["width"], r["layers"], r["kernel"], dropout=0.1), torch.nn.Linear(r["width"], 40)]))
		lengths = torch.randint(r["frames"] // 2, r["frames"] + 1, (r["batch"],), device=loop.DEVICE)
		lengths[0] = r["frames"]
		targets = 1 + loop.tokens(39, r["batch"], 20)

		def loss(call, x):
			y, n = model[0](x[0], x[1])
			y = model[1](y)
			if r["mode"] != "train":
				return y
			return torch.nn.functional.ctc_loss(y.float().log_softmax(-1).transpose(0, 1), x[2], n, torch.full((r["batch"],), 20, device=loop.DEVICE), zero_infinity=True)

		return loop.Loop(r, model, (loop.noise(r["batch"], r["frames"], r["width"]), lengths, targets), loss)

	return Family("conformer", "plain", draw, cost, samples, build, "single", {"no-bf16"})


def wav2letter():
	def draw(pick):
		return dict(wave=16000 * pick.choice([1, 2, 4, 8]), target=20, batch=power(pick, 1, 64))

	def cost(r):
		return Cost(23e6, r["batch"] * r["wave"] / 320 * 50e6, r["batch"] * r["wave"] * (250 / 160 * 4 + 30) * 3, launches=60)

	def build(r):
		import torch
		import torchaudio

		import loop

		model = placed(r, lambda: torchaudio.models.Wav2Letter(num_classes=40, input_type="waveform", num_features=1))
		targets = 1 + loop.tokens(39, r["batch"], r["target"])

		def loss(call, x):
			y = call(x[0])
			if r["mode"] != "train":
				return y
			n = torch.full((r["batch"],), y.shape[2], dtype=torch.long)
			return torch.nn.functional.ctc_loss(y.float().permute(2, 0, 1), x[1], n, torch.full((r["batch"],), r["target"], dtype=torch.long), zero_infinity=True)

		return loop.Loop(r, model, (loop.noise(r["batch"], 1, r["wave"]), targets), loss)

	return Family("wav2letter", "plain", draw, cost, samples, build, "single", {"no-bf16"})


def nn_transformer():
	def draw(pick):
		hidden, heads = pick.choice([(256, 4), (512, 8), (768, 12), (1024, 16)])
		return dict(hidden=hidden, heads=heads, ffn=4 * hidden, layers=pick.choice([2, 3, 6]), vocab=pick.choice([10000, 32000, 37000]), seq=pick.choice([32, 64, 128, 256, 512]), batch=power(pick, 4, 128))

	def cost(r):
		e, h = r["batch"] * r["seq"], r["hidden"]
		return Cost(r["layers"] * 28 * h * h + 2 * r["vocab"] * h, 2 * e * (r["layers"] * (28 * h * h + 12 * r["seq"] * h) + r["vocab"] * h), e * r["layers"] * h * 200 * half(r), 14 * e * r["vocab"], launches=r["layers"] * 100)

	def build(r):
		import loop
		import nets
		from torch.nn.functional import cross_entropy

		model = placed(r, lambda: nets.Seq2Seq(r["vocab"], r["hidden"], r["heads"], r["layers"], r["ffn"], r["seq"]))
		inputs = tuple(loop.tokens(r["vocab"], r["batch"], r["seq"]) for _ in range(3))
		return loop.Loop(r, model, inputs, lambda call, x: cross_entropy(call(x[0], x[1]).flatten(0, 1), x[2].flatten()) if r["mode"] == "train" else call(x[0], x[1]))

	return Family("nn_transformer", "plain", draw, cost, lambda r: {"samples": r["batch"], "tokens": 2 * r["batch"] * r["seq"]}, build, "text", {"compiles", "no-bf16"})


def digits():
	def draw(pick):
		return dict(width=pick.choice([16, 32, 64]), batch=power(pick, 32, 2048))

	def build(r):
		import loop
		import nets
		from torch.nn.functional import nll_loss

		model = placed(r, lambda: nets.Digits(r["width"]))
		inputs = (loop.noise(r["batch"], 1, 28, 28), loop.tokens(10, r["batch"]))
		return loop.Loop(r, model, inputs, lambda call, x: nll_loss(call(x[0]), x[1]) if r["mode"] == "train" else call(x[0]))

	return Family("mnist_cnn", "plain", draw, lambda r: Cost(4e4 * r["width"], 2e4 * 576 * r["width"] ** 2 / 16 * r["batch"], 4 * r["batch"] * r["width"] * 6000, launches=20), lambda r: {"images": r["batch"]}, build, "single", {"compiles"})


def tabular():
	def draw(pick):
		return dict(features=pick.choice([64, 256, 1024]), hidden=pick.choice([256, 1024, 4096]), layers=pick.choice([2, 4, 8]), batch=power(pick, 64, 65536))

	def cost(r):
		params = r["hidden"] * (r["features"] + r["hidden"] * (r["layers"] - 1) + 1)
		return Cost(params, 2 * params * r["batch"], 8 * r["batch"] * r["hidden"] * r["layers"], launches=4 * r["layers"])

	def build(r):
		import loop
		import nets
		from torch.nn.functional import mse_loss

		model = placed(r, lambda: nets.mlp(r["features"], *[r["hidden"]] * r["layers"], 1))
		return loop.Loop(r, model, (loop.noise(r["batch"], r["features"]), loop.noise(r["batch"], 1)), lambda call, x: mse_loss(call(x[0]), x[1]) if r["mode"] == "train" else call(x[0]))

	return Family("mlp", "plain", draw, cost, samples, build, "single", {"compiles"})


def adversarial():
	"""Two networks and two optimizers in one step, as in the DCGAN example."""

	def draw(pick):
		return dict(latent=100, width=pick.choice([32, 64, 128]), image=pick.choice([32, 64, 128]), batch=power(pick, 16, 256))

	def cost(r):
		grow = (r["width"] / 64) ** 2 * (r["image"] / 64) ** 2
		return Cost(6.3e6 * grow, 4e9 * grow * r["batch"], 12e6 * (r["width"] / 64) * (r["image"] / 64) ** 2 * r["batch"], launches=200)

	def build(r):
		import loop
		import nets
		import torch
		from torch.nn.functional import binary_cross_entropy_with_logits as bce

		class Duel(loop.Loop):
			def __init__(self):
				g, d = placed(r, lambda: nets.generator(r["latent"], r["width"], r["image"])), placed(r, lambda: nets.discriminator(r["width"], r["image"]))
				super().__init__(r, torch.nn.ModuleList([g, d]), (loop.noise(r["batch"], 3, r["image"], r["image"]),), None)
				self.g, self.d = g, d
				self.opt_g, self.opt_d = (loop.OPTIMIZERS["adam"](net.parameters()) for net in (g, d))

			def step(self):
				real, one = self.fetch()[0], torch.ones(r["batch"], 1, device=loop.DEVICE)
				self.opt_d.zero_grad()
				with self.cast():
					fake = self.g(torch.randn(r["batch"], r["latent"], 1, 1, device=loop.DEVICE))
					loss_d = bce(self.d(real), one) + bce(self.d(fake.detach()), torch.zeros_like(one))
				loss_d.backward()
				self.opt_d.step()
				self.opt_g.zero_grad()
				with self.cast():
					loss_g = bce(self.d(fake), one)
				loss_g.backward()
				self.opt_g.step()
				return loss_g.item() if r.get("read_loss") else loss_g.detach()

		return Duel()

	def settle(r):
		"""Has its own step: no clipping, no accumulation, Adam for both."""
		r["optimizer"] = "adam"
		for key in ("clip", "accumulate"):
			r.pop(key, None)

	return Family("dcgan", "plain", draw, cost, lambda r: {"images": r["batch"]}, build, "single", {"no-bf16", "no-fp16", "train-only"}, settle)


FAMILIES = [recurrent("lstm"), recurrent("gru"), graph("gcn", "GCN"), graph("graphsage", "GraphSAGE"), graph("gat", "GAT"), graph("gin", "GIN"), unet(), recommender(), conformer(), wav2letter(), nn_transformer(), digits(), tabular(), adversarial()]
