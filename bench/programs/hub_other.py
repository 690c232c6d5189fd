"""Families of transformers other than text decoders and encoders: encoder-decoders, state-space models, vision, speech."""
from hub import DECODERS, ENCODERS, config_of, decoder, encoder, make, plus, stack
from rows import Cost, Family, power


def per_sample(r):
	return {"samples": r["batch"]}


def per_image(r):
	return {"images": r["batch"]}


# encoder-decoders: (hidden, heads, ffn), layers per side
SEQ2SEQ = {
	"t5": ("T5ForConditionalGeneration", "T5Config", [(512, 8, 2048), (768, 12, 3072), (1024, 16, 4096)], [4, 6, 12, 24], 32128),
	"bart": ("BartForConditionalGeneration", "BartConfig", [(512, 8, 2048), (768, 12, 3072), (1024, 16, 4096)], [3, 6, 12], 50265),
	"mbart": ("MBartForConditionalGeneration", "MBartConfig", [(512, 8, 2048), (1024, 16, 4096)], [6, 12], 250027),
	"pegasus": ("PegasusForConditionalGeneration", "PegasusConfig", [(512, 8, 2048), (1024, 16, 4096)], [4, 8, 16], 96103),
}


def seq2seq(name):
	model, config, shapes, layers, vocab = SEQ2SEQ[name]

	def draw(pick):
		hidden, heads, ffn = pick.choice(shapes)
		r = dict(layers=pick.choice(layers), hidden=hidden, heads=heads, ffn=ffn, vocab=vocab, seq=pick.choice([64, 128, 256, 512, 1024]), target=pick.choice([32, 64, 128, 256]), batch=power(pick, 1, 64),
			mask=pick.choice(["none", "ones", "padded"]))
		if name == "t5":
			r["gated"] = pick.choice([0, 1])
		elif pick.random() < 0.12:
			r["attention"] = "eager"
		return r

	def cost(r):
		eager = dict(r, attention="eager") if name == "t5" else r
		body = dict(layers=r["layers"], hidden=r["hidden"], heads=r["heads"], ffn=r["ffn"], gated=bool(r.get("gated")))
		return plus(stack(eager, r["batch"], r["seq"], **body), stack(eager, r["batch"], r["target"], cross=r["seq"], **body), vocab=r["vocab"], hidden=r["hidden"], tokens=r["batch"] * r["target"])

	def fields(r):
		if name == "t5":
			return dict(num_layers=r["layers"], d_model=r["hidden"], d_kv=r["hidden"] // r["heads"], num_heads=r["heads"], d_ff=r["ffn"], vocab_size=r["vocab"],
				feed_forward_proj="gated-gelu" if r["gated"] else "relu", decoder_start_token_id=0)
		return dict(encoder_layers=r["layers"], decoder_layers=r["layers"], d_model=r["hidden"], encoder_attention_heads=r["heads"], decoder_attention_heads=r["heads"], encoder_ffn_dim=r["ffn"],
			decoder_ffn_dim=r["ffn"], vocab_size=r["vocab"], max_position_embeddings=1024)

	def build(r):
		import loop

		labels = loop.tokens(r["vocab"], r["batch"], r["target"])
		inputs = dict(input_ids=loop.tokens(r["vocab"], r["batch"], r["seq"]), **loop.padding_mask(r["mask"], r["batch"], r["seq"]))
		inputs.update({"labels": labels} if r["mode"] == "train" else {"decoder_input_ids": labels})
		return make(r, model, config_of(r, config, **fields(r)), inputs)

	return Family(name, "transformers", draw, cost, lambda r: {"samples": r["batch"], "tokens": r["batch"] * (r["seq"] + r["target"])}, build, traits={"checkpoints"} | ({"compiles"} if name == "bart" else set()))


def mamba():
	"""Without its own kernels installed it needs a Python iteration per token and layer, so sequences are short."""

	def draw(pick):
		return dict(layers=pick.choice([2, 4, 8, 12, 24]), hidden=pick.choice([512, 768, 1024, 1536]), state=16, vocab=50280, seq=pick.choice([16, 32, 64, 128, 256]), batch=power(pick, 1, 32))

	def cost(r):
		e, inner = r["batch"] * r["seq"], 2 * r["hidden"]
		body = Cost(params=r["layers"] * 3.2 * r["hidden"] * inner, flop=2 * e * r["layers"] * 3.2 * r["hidden"] * inner, act_B=e * r["layers"] * inner * (40 + 40 * r["state"]), launches=r["layers"] * (60 + 5 * r["seq"]))
		return plus(body, vocab=r["vocab"], hidden=r["hidden"], tokens=e)

	def build(r):
		import loop

		ids = loop.tokens(r["vocab"], r["batch"], r["seq"])
		config = config_of(r, "MambaConfig", num_hidden_layers=r["layers"], hidden_size=r["hidden"], state_size=r["state"], vocab_size=r["vocab"], use_cache=False)
		return make(r, "MambaForCausalLM", config, dict(input_ids=ids, labels=ids.clone()))

	return Family("mamba", "transformers", draw, cost, lambda r: {"samples": r["batch"], "tokens": r["batch"] * r["seq"]}, build, traits={"checkpoints"})


# image classification: name -> (model, configuration, patch sizes, prefix tokens)
PICTURES = {"vit": ("ViTForImageClassification", "ViTConfig", [16, 32], [224, 224, 384]), "dinov2": ("Dinov2ForImageClassification", "Dinov2Config", [14], [224, 336, 518]),
	"deit": ("DeiTForImageClassification", "DeiTConfig", [16], [224, 384]), "beit": ("BeitForImageClassification", "BeitConfig", [16], [224, 384])}


def pictures(name):
	model, config, patches, images = PICTURES[name]

	def draw(pick):
		hidden, heads, layers = pick.choice([(192, 3, 12), (384, 6, 12), (768, 12, 12), (1024, 16, 24)])
		r = dict(layers=layers, hidden=hidden, heads=heads, ffn=4 * hidden, patch=pick.choice(patches), image=pick.choice(images), classes=pick.choice([10, 1000]), batch=power(pick, 1, 256))
		if pick.random() < 0.12:
			r["attention"] = "eager"
		return r

	def cost(r):
		seq = (r["image"] // r["patch"]) ** 2 + 1
		eager = dict(r, attention="eager") if name == "beit" else r
		return plus(stack(eager, r["batch"], seq, r["layers"], r["hidden"], r["heads"], r["ffn"]))

	def build(r):
		import loop

		c = config_of(r, config, num_hidden_layers=r["layers"], hidden_size=r["hidden"], num_attention_heads=r["heads"], intermediate_size=r["ffn"], patch_size=r["patch"], image_size=r["image"],
			num_labels=r["classes"])
		return make(r, model, c, dict(pixel_values=loop.noise(r["batch"], 3, r["image"], r["image"]), labels=loop.tokens(r["classes"], r["batch"])))

	return Family(name, "transformers", draw, cost, per_image, build, traits={"checkpoints"} | ({"compiles"} if name in ("vit", "dinov2") else set()))


def swin():
	shapes = [(96, [2, 2, 6, 2], [3, 6, 12, 24]), (96, [2, 2, 18, 2], [3, 6, 12, 24]), (128, [2, 2, 18, 2], [4, 8, 16, 32])]

	def draw(pick):
		width, depths, heads = pick.choice(shapes)
		return dict(width=width, depths=depths, heads=heads, image=224, classes=pick.choice([10, 1000]), batch=power(pick, 1, 128))

	def cost(r):
		deep, wide = sum(r["depths"]) / 12, (r["width"] / 96) ** 2
		narrow = 1 if r["precision"] in ("tf32", "fp32") else 0.7
		return Cost(28e6 * deep * wide, 9e9 * deep * wide * r["batch"], 250e6 * deep * (r["width"] / 96) * narrow * r["batch"], launches=1500 * deep)

	def build(r):
		import loop

		config = config_of(r, "SwinConfig", embed_dim=r["width"], depths=r["depths"], num_heads=r["heads"], image_size=r["image"], num_labels=r["classes"])
		return make(r, "SwinForImageClassification", config, dict(pixel_values=loop.noise(r["batch"], 3, r["image"], r["image"]), labels=loop.tokens(r["classes"], r["batch"])))

	return Family("swin", "transformers", draw, cost, per_image, build, traits={"checkpoints"})


def segformer():
	sizes = {"b0": ([32, 64, 160, 256], [2, 2, 2, 2], 256, 4e6, 17e9, 500e6), "b2": ([64, 128, 320, 512], [3, 4, 6, 3], 768, 27e6, 125e9, 1500e6)}

	def draw(pick):
		return dict(size=pick.choice(list(sizes)), image=pick.choice([256, 512, 640]), classes=pick.choice([19, 150]), batch=power(pick, 1, 32))

	def cost(r):
		*_, params, flop, act_B = sizes[r["size"]]
		return Cost(params, flop * (r["image"] / 512) ** 2 * r["batch"], (act_B + 4 * r["classes"] * 512 * 512 * 3) * (r["image"] / 512) ** 2 * r["batch"], launches=1200)

	def build(r):
		import loop

		widths, depths, head, *_ = sizes[r["size"]]
		config = config_of(r, "SegformerConfig", hidden_sizes=widths, depths=depths, decoder_hidden_size=head, num_labels=r["classes"])
		inputs = dict(pixel_values=loop.noise(r["batch"], 3, r["image"], r["image"]), labels=loop.tokens(r["classes"], r["batch"], r["image"], r["image"]))
		return make(r, "SegformerForSemanticSegmentation", config, inputs)

	return Family("segformer", "transformers", draw, cost, per_image, build, traits={"checkpoints"})


def clip():
	def draw(pick):
		hidden, heads, layers = pick.choice([(384, 6, 12), (768, 12, 12), (1024, 16, 24)])
		return dict(layers=layers, hidden=hidden, heads=heads, ffn=4 * hidden, patch=pick.choice([14, 16, 32]), image=224, text_hidden=pick.choice([512, 768]), text_layers=12, seq=77, batch=power(pick, 2, 256),
			mask=pick.choice(["none", "ones"]))

	def cost(r):
		return plus(stack(r, r["batch"], (r["image"] // r["patch"]) ** 2 + 1, r["layers"], r["hidden"], r["heads"], r["ffn"]),
			stack(r, r["batch"], r["seq"], r["text_layers"], r["text_hidden"], r["text_hidden"] // 64, 4 * r["text_hidden"]), vocab=49408, hidden=r["text_hidden"])

	def build(r):
		import loop

		vision = dict(num_hidden_layers=r["layers"], hidden_size=r["hidden"], num_attention_heads=r["heads"], intermediate_size=r["ffn"], patch_size=r["patch"], image_size=r["image"])
		text = dict(num_hidden_layers=r["text_layers"], hidden_size=r["text_hidden"], num_attention_heads=r["text_hidden"] // 64, intermediate_size=4 * r["text_hidden"], max_position_embeddings=r["seq"])
		inputs = dict(input_ids=loop.tokens(49408, r["batch"], r["seq"]), pixel_values=loop.noise(r["batch"], 3, r["image"], r["image"]), return_loss=True, **loop.padding_mask(r["mask"], r["batch"], r["seq"]))
		return make(r, "CLIPModel", config_of(r, "CLIPConfig", text_config=text, vision_config=vision), inputs)

	return Family("clip", "transformers", draw, cost, per_sample, build, traits={"checkpoints"})


def whisper():
	def draw(pick):
		hidden, heads, layers = pick.choice([(384, 6, 4), (512, 8, 6), (768, 12, 12), (1024, 16, 24)])
		return dict(layers=layers, hidden=hidden, heads=heads, ffn=4 * hidden, frames=pick.choice([1000, 3000, 3000]), target=pick.choice([32, 64, 128, 256, 448]), vocab=51865, batch=power(pick, 1, 32))

	def cost(r):
		body = dict(layers=r["layers"], hidden=r["hidden"], heads=r["heads"], ffn=r["ffn"])
		return plus(stack(r, r["batch"], r["frames"] // 2, **body), stack(r, r["batch"], r["target"], cross=r["frames"] // 2, **body), vocab=r["vocab"], hidden=r["hidden"], tokens=r["batch"] * r["target"])

	def build(r):
		import loop

		config = config_of(r, "WhisperConfig", encoder_layers=r["layers"], decoder_layers=r["layers"], d_model=r["hidden"], encoder_attention_heads=r["heads"], decoder_attention_heads=r["heads"],
			encoder_ffn_dim=r["ffn"], decoder_ffn_dim=r["ffn"], vocab_size=r["vocab"], max_source_positions=r["frames"] // 2)
		labels = loop.tokens(r["vocab"], r["batch"], r["target"])
		inputs = dict(input_features=loop.noise(r["batch"], 80, r["frames"]), **({"labels": labels} if r["mode"] == "train" else {"decoder_input_ids": labels}))
		return make(r, "WhisperForConditionalGeneration", config, inputs)

	return Family("whisper", "transformers", draw, cost, per_sample, build, traits={"checkpoints"})


def speech(name, model, config):
	"""Speech recognition from waveforms with CTC."""

	def draw(pick):
		hidden, heads, layers = pick.choice([(384, 6, 6), (768, 12, 12), (1024, 16, 24)])
		return dict(layers=layers, hidden=hidden, heads=heads, ffn=4 * hidden, wave=16000 * pick.choice([1, 2, 4, 8, 12]), target=pick.choice([10, 20, 40]), vocab=32, batch=power(pick, 1, 32))

	def cost(r):
		body, samples = stack(r, r["batch"], r["wave"] // 320, r["layers"], r["hidden"], r["heads"], r["ffn"]), r["batch"] * r["wave"]
		body.flop += samples * 170e3  # seven convolutions of 512 channels
		body.act_B += samples * 512 * 0.4 * 4 * 3
		body.params += 10e6
		return plus(body)

	def build(r):
		import loop

		c = config_of(r, config, num_hidden_layers=r["layers"], hidden_size=r["hidden"], num_attention_heads=r["heads"], intermediate_size=r["ffn"], vocab_size=r["vocab"], ctc_zero_infinity=True)
		return make(r, model, c, dict(input_values=loop.noise(r["batch"], r["wave"]), labels=1 + loop.tokens(r["vocab"] - 1, r["batch"], r["target"])))

	return Family(name, "transformers", draw, cost, per_sample, build, traits={"checkpoints"})


FAMILIES = [*(decoder(n) for n in DECODERS), *(encoder(n) for n in ENCODERS), *(seq2seq(n) for n in SEQ2SEQ), mamba(), *(pictures(n) for n in PICTURES), swin(), segformer(), clip(), whisper(),
	speech("wav2vec2", "Wav2Vec2ForCTC", "Wav2Vec2Config"), speech("hubert", "HubertForCTC", "HubertConfig")]
