"""Families of torchvision, by their names in its registry, without weights."""
from rows import Cost, Family, power

# name: millions of weights; GFLOP and MB kept for backward (fp32) per sample at the base size; base size; largest batch
CLASSES = {
	"alexnet": (61.1, 1.4, 4, 224, 1024), "resnet18": (11.7, 3.6, 22, 224, 512), "resnet34": (21.8, 7.3, 32, 224, 512), "resnet50": (25.6, 8.2, 86, 224, 256), "resnet101": (44.5, 15.6, 127, 224, 256),
	"resnet152": (60.2, 23.0, 178, 224, 128), "wide_resnet50_2": (68.9, 22.8, 112, 224, 128), "resnext50_32x4d": (25.0, 8.5, 112, 224, 128), "resnext101_32x8d": (88.8, 32.8, 247, 224, 64),
	"efficientnet_b0": (5.3, 0.8, 88, 224, 256), "efficientnet_b2": (9.1, 1.3, 129, 224, 128), "efficientnet_b4": (19.3, 3.0, 225, 224, 128), "efficientnet_v2_s": (21.5, 5.7, 155, 224, 128),
	"efficientnet_v2_m": (54.1, 10.7, 252, 224, 64), "mobilenet_v2": (3.5, 0.6, 78, 224, 512), "mobilenet_v3_large": (5.5, 0.4, 44, 224, 512), "mobilenet_v3_small": (2.5, 0.1, 16, 224, 512),
	"convnext_tiny": (28.6, 8.9, 109, 224, 128), "convnext_small": (50.2, 17.4, 174, 224, 128), "convnext_base": (88.6, 30.7, 232, 224, 64), "swin_t": (28.3, 9.0, 107, 224, 128), "swin_s": (49.6, 17.5, 170, 224, 64),
	"swin_v2_t": (28.4, 9.9, 154, 256, 64), "vit_b_16": (86.6, 35.1, 155, 224, 128), "vit_b_32": (88.2, 8.8, 36, 224, 256), "vit_l_16": (304.3, 123.1, 410, 224, 64), "regnet_y_400mf": (4.3, 0.8, 30, 224, 512),
	"regnet_y_1_6gf": (11.2, 3.2, 70, 224, 256), "regnet_y_8gf": (39.4, 17.0, 140, 224, 128), "regnet_x_3_2gf": (15.3, 6.4, 90, 224, 256), "densenet121": (8.0, 5.7, 131, 224, 128), "densenet169": (14.1, 6.7, 158, 224, 128),
	"vgg11_bn": (132.9, 15.2, 79, 224, 128), "vgg16": (138.4, 30.9, 73, 224, 128), "vgg19_bn": (143.7, 39.3, 138, 224, 64), "shufflenet_v2_x1_0": (2.3, 0.3, 20, 224, 512), "mnasnet1_0": (4.4, 0.6, 44, 224, 512),
	"squeezenet1_1": (1.2, 0.7, 21, 224, 512), "googlenet": (13.0, 3.0, 48, 224, 256), "inception_v3": (27.2, 11.4, 98, 299, 128), "maxvit_t": (30.9, 11.1, 308, 224, 64),
}
FIXED = {"maxvit_t": [224], "vit_b_16": [224], "vit_b_32": [224], "vit_l_16": [224], "swin_v2_t": [256], "inception_v3": [299, 342], "alexnet": [224]}
# compile in less than two minutes
COMPILED = {"resnet18", "resnet34", "resnet50", "efficientnet_b0", "mobilenet_v2", "mobilenet_v3_large", "convnext_tiny", "vit_b_16", "vit_b_32", "regnet_y_1_6gf", "vgg16", "swin_t"}
SEGMENT = {"deeplabv3_resnet50": (42.0, 347, 1090, 512, 16), "deeplabv3_resnet101": (61.0, 502, 1946, 512, 8), "deeplabv3_mobilenet_v3_large": (11.0, 20, 313, 512, 32), "fcn_resnet50": (35.3, 296, 1044, 512, 16),
	"fcn_resnet101": (54.3, 451, 1899, 512, 8), "lraspp_mobilenet_v3_large": (3.2, 4, 296, 512, 32)}
VIDEO = {"r3d_18": (33.4, 81, 169, 112, 32), "mc3_18": (11.7, 87, 232, 112, 32), "r2plus1d_18": (31.5, 81, 502, 112, 16), "s3d": (8.3, 36, 500, 224, 16), "mvit_v1_b": (36.6, 141, 1344, 224, 8), "mvit_v2_s": (34.5, 128, 1536, 224, 8),
	"swin3d_t": (28.2, 88, 1356, 224, 8)}
# at 800 × 1066, the models' default; ssd at its own size
DETECT = {"fasterrcnn_resnet50_fpn": (41.8, 290, 2000, 800, 8), "fasterrcnn_mobilenet_v3_large_fpn": (19.4, 30, 700, 800, 8), "maskrcnn_resnet50_fpn": (44.4, 330, 2600, 800, 4), "retinanet_resnet50_fpn": (34.0, 310, 2800, 800, 8),
	"fcos_resnet50_fpn": (32.3, 260, 2600, 800, 8), "ssd300_vgg16": (35.6, 70, 200, 300, 32), "ssdlite320_mobilenet_v3_large": (3.4, 1.2, 160, 320, 32)}


def scaled(table):
	def cost(r):
		params, gflop, act_MB, base, _ = table[r["net"]]
		grow = (r["image"] / base) ** 2 * r["batch"] * r.get("frames", 16) / 16
		act = act_MB * (0.65 if r["precision"].startswith("amp") or r["precision"] == "bf16" else 1)
		return Cost(params * 1e6, gflop * 1e9 * grow, act * 1e6 * grow, launches=1200 if table is DETECT else 400)

	return cost


def net_of(r, **fields):
	import warnings

	import torch
	import torchvision

	import loop

	loop.set_precision(r["precision"])
	warnings.filterwarnings("ignore", module="torchvision")
	# regnets compute their widths with tensors and read them back: built on the CPU and moved, as most scripts do
	with torch.device("cpu" if r["net"].startswith("regnet") else loop.DEVICE):
		return torchvision.models.get_model(r["net"], weights=None, **fields).to(loop.DEVICE)


def draw_of(net, table, images, **more):
	def draw(pick):
		most = table[net][4]
		r = dict(net=net, image=pick.choice(images), batch=power(pick, max(2, most // 32), most))  # batch norm needs two samples
		r.update((key, pick.choice(choices)) for key, choices in more.items())
		return r

	return draw


def mean_loss(output, target):
	"""Cross entropy of the main and auxiliary heads, weighted as in the reference scripts."""
	from torch.nn.functional import cross_entropy

	if hasattr(output, "_fields"):  # googlenet, inception
		return sum(w * cross_entropy(o, target) for o, w in zip(output, (1.0, 0.4, 0.4)) if o is not None)
	if isinstance(output, dict):
		return sum(w * cross_entropy(output[k], target, ignore_index=255) for k, w in (("out", 1.0), ("aux", 0.5)) if k in output)
	return cross_entropy(output, target)


def classifier(net):
	def build(r):
		import loop

		slow_init = {"init_weights": False} if net in ("googlenet", "inception_v3") else {}
		model = net_of(r, num_classes=r["classes"], **slow_init)
		inputs = (loop.noise(r["batch"], 3, r["image"], r["image"]), loop.tokens(r["classes"], r["batch"]))
		return loop.Loop(r, model, inputs, lambda call, x: mean_loss(call(x[0]), x[1]) if r["mode"] == "train" else call(x[0]))

	images = FIXED.get(net, [160, 192, 224, 224, 224, 256, 288])
	draw = draw_of(net, CLASSES, images, classes=[10, 100, 1000, 1000], layout=["contiguous", "contiguous", "channels_last"])
	compiles = net in COMPILED
	return Family("tv_" + net, "torchvision", draw, scaled(CLASSES), lambda r: {"images": r["batch"]}, build, "vision", {"compiles"} if compiles else set())


def segmenter(net):
	def build(r):
		import loop

		aux = {} if net.startswith("lraspp") else {"aux_loss": True}
		model = net_of(r, weights_backbone=None, num_classes=21, **aux)
		inputs = (loop.noise(r["batch"], 3, r["image"], r["image"]), loop.tokens(21, r["batch"], r["image"], r["image"]))
		return loop.Loop(r, model, inputs, lambda call, x: mean_loss(call(x[0]), x[1]) if r["mode"] == "train" else call(x[0]))

	return Family("tv_" + net, "torchvision", draw_of(net, SEGMENT, [256, 384, 512, 520]), scaled(SEGMENT), lambda r: {"images": r["batch"]}, build, "vision", {"no-bf16"})


def video(net):
	def build(r):
		import loop

		model = net_of(r, num_classes=400)
		inputs = (loop.noise(r["batch"], 3, r["frames"], r["image"], r["image"]), loop.tokens(400, r["batch"]))
		return loop.Loop(r, model, inputs, lambda call, x: mean_loss(call(x[0]), x[1]) if r["mode"] == "train" else call(x[0]))

	return Family("tv_" + net, "torchvision", draw_of(net, VIDEO, [VIDEO[net][3]], frames=[16] if net.startswith("mvit") else [16, 32]), scaled(VIDEO), lambda r: {"clips": r["batch"]}, build, "vision")


def boxes(r, n):
	"""n random objects per image."""
	import torch

	import loop

	corner = torch.rand(n, 2, device=loop.DEVICE) * 0.6 * r["size"]
	extent = (0.05 + torch.rand(n, 2, device=loop.DEVICE) * 0.3) * r["size"]
	target = dict(boxes=torch.cat((corner, corner + extent), 1), labels=1 + loop.tokens(20, n))
	if r["net"].startswith("mask"):
		target["masks"] = (torch.rand(n, r["size"], r["size"], device=loop.DEVICE) > 0.5).to(torch.uint8)
	return target


def detector(net):
	def draw(pick):
		r = draw_of(net, DETECT, [DETECT[net][3]])(pick)
		r.update(size=pick.choice([320, 480, 640]), objects=pick.choice([3, 8, 20]))
		if net.endswith("fpn"):
			r["image"] = pick.choice([480, 640, 800])
		return r

	def build(r):
		import torch

		import loop

		size = dict(min_size=r["image"], max_size=1333) if net.endswith("fpn") else {}
		model = net_of(r, weights_backbone=None, num_classes=21, **size)
		images = [torch.rand(3, r["size"], r["size"], device=loop.DEVICE) for _ in range(r["batch"])]
		inputs = (images, [boxes(r, r["objects"]) for _ in images])
		return loop.Loop(r, model, inputs, lambda call, x: sum(call(*x).values()) if r["mode"] == "train" else call(x[0]))

	return Family("tv_" + net, "torchvision", draw, scaled(DETECT), lambda r: {"images": r["batch"]}, build, "vision", {"no-bf16"})


def raft():
	def build(r):
		import loop

		model, n, s = net_of(r), r["batch"], r["image"]
		inputs = (loop.noise(n, 3, s, s), loop.noise(n, 3, s, s), loop.noise(n, 2, s, s))

		def loss(call, x):
			flows = call(x[0], x[1])
			return sum(0.8 ** (len(flows) - 1 - i) * (f - x[2]).abs().mean() for i, f in enumerate(flows)) if r["mode"] == "train" else flows[-1]

		return loop.Loop(r, model, inputs, loss)

	table = {"raft_small": (1.0, 5.7, 60, 128, 8)}
	return Family("tv_raft_small", "torchvision", draw_of("raft_small", table, [128, 192, 256]), scaled(table), lambda r: {"samples": r["batch"]}, build, "vision", {"no-bf16", "no-fp16"})


FAMILIES = [*(classifier(n) for n in CLASSES), *(segmenter(n) for n in SEGMENT), *(video(n) for n in VIDEO), *(detector(n) for n in DETECT), raft()]
