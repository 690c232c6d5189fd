"""Families of transformers: each row gives classes, published shapes and the meaning of a batch. Models are created from configurations with random
weights; nothing is downloaded."""
import os

from rows import Cost, Family, power

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def stack(r, n, seq, layers, hidden, heads, ffn, kv_heads=None, head_dim=None, gated=False, experts=1, top=1, cross=0):
	"""Cost of attention and MLP layers over n sequences; cross: sequence length read by cross-attention."""
	head_dim, kv_heads = head_dim or hidden // heads, kv_heads or heads
	attention = hidden * head_dim * (2 * heads + 2 * kv_heads) * (2 if cross else 1)
	mlp = hidden * ffn * (3 if gated else 2)
	wide = 2 if r["precision"] in ("tf32", "fp32") else 1
	scores_B = heads * (seq + cross) * (14 * wide) if r.get("attention") == "eager" else 0
	act_B = n * seq * layers * (wide * (52 * hidden + 10 * heads * head_dim + ffn * top * (10 if gated else 8)) + scores_B)
	flop = n * seq * layers * (2 * (attention + mlp * top) + 4 * heads * head_dim * (seq + cross))
	return Cost(params=layers * (attention + mlp * experts), flop=flop, act_B=act_B, launches=layers * (60 + 12 * experts if experts > 1 else 60))


def plus(*costs, vocab=0, hidden=0, tokens=0, tied=True):
	"""The stacks, the embedding and the logits with their loss."""
	total = Cost(sum(c.params for c in costs), sum(c.flop for c in costs), sum(c.act_B for c in costs), launches=sum(c.launches for c in costs) + 50)
	total.params += vocab * hidden * (1 if tied else 2)
	total.flop += 2 * tokens * vocab * hidden
	total.other_B += 16 * tokens * vocab
	return total


def pick_text(pick, shapes, layers, seqs, vocabs, batch=128, eager=0.12, **more):
	"""shapes: (hidden, heads[, kv_heads[, ffn[, head_dim]]]); the rest is derived."""
	hidden, heads, kv_heads, ffn, head_dim = (*pick.choice(shapes), None, None, None)[:5]
	r = dict(layers=pick.choice(layers), hidden=hidden, heads=heads, kv_heads=kv_heads or heads, ffn=ffn or 4 * hidden, vocab=pick.choice(vocabs), seq=pick.choice(seqs), batch=power(pick, 1, batch))
	if head_dim:
		r["head_dim"] = head_dim
	if pick.random() < eager:
		r["attention"] = "eager"
	r["mask"] = pick.choice(["none", "none", "ones", "padded"])
	r.update((key, pick.choice(choices)) for key, choices in more.items())
	return r


def config_of(r, name, **fields):
	import transformers

	config = getattr(transformers, name)(**fields)
	if r.get("attention"):
		config._attn_implementation = r["attention"]
	if r.get("experts_code"):
		config._experts_implementation = r["experts_code"]
	return config


def make(r, model, config, inputs, forward_only=()):
	"""forward_only: inputs needed only for the loss, omitted in a forward pass."""
	import torch
	import transformers

	import loop

	transformers.logging.set_verbosity_error()
	loop.set_precision(r["precision"])
	with torch.device(loop.DEVICE):
		net = getattr(transformers, model)(config)
	if r.get("checkpoint") and r["mode"] == "train":
		net.gradient_checkpointing_enable()
	if r["mode"] != "train":
		inputs = {k: v for k, v in inputs.items() if k not in ("labels", "return_loss", *forward_only)}
	return loop.Loop(r, net, inputs, lambda call, x: call(**x).loss if r["mode"] == "train" else call(**x)[0])


# decoders: name -> (classes, fields of the configuration from a row)
def plain_fields(r, **more):
	return dict(num_hidden_layers=r["layers"], hidden_size=r["hidden"], num_attention_heads=r["heads"], intermediate_size=r["ffn"], vocab_size=r["vocab"],
		max_position_embeddings=max(2048, r["seq"]), use_cache=bool(r.get("use_cache", 1)), **more)


def grouped_fields(r, **more):
	return plain_fields(r, num_key_value_heads=r["kv_heads"], **({"head_dim": r["head_dim"]} if r.get("head_dim") else {}), **more)


def gpt2_fields(r):
	return dict(n_layer=r["layers"], n_embd=r["hidden"], n_head=r["heads"], n_positions=max(1024, r["seq"]), vocab_size=r["vocab"], use_cache=bool(r.get("use_cache", 1)))


def opt_fields(r):
	return dict(num_hidden_layers=r["layers"], hidden_size=r["hidden"], word_embed_proj_dim=r["hidden"], num_attention_heads=r["heads"], ffn_dim=r["ffn"], vocab_size=r["vocab"],
		max_position_embeddings=max(2048, r["seq"]), use_cache=bool(r.get("use_cache", 1)))


def falcon_fields(r):
	fields = dict(num_hidden_layers=r["layers"], hidden_size=r["hidden"], num_attention_heads=r["heads"], vocab_size=r["vocab"], alibi=False, max_position_embeddings=max(2048, r["seq"]),
		use_cache=bool(r.get("use_cache", 1)))
	return dict(fields, new_decoder_architecture=True, num_kv_heads=r["kv_heads"]) if r["kv_heads"] > 1 else dict(fields, multi_query=True)


def gemma_fields(r):
	return grouped_fields(r, query_pre_attn_scalar=r["head_dim"], sliding_window=r["window"])


USUAL = [128, 256, 512, 1024, 2048, 4096]
DEEP = [4, 6, 8, 12, 16, 20, 24, 28, 32]
LLAMA = [(512, 8, 8, 1408), (768, 12, 4, 2048), (1024, 16, 16, 2816), (1536, 12, 6, 4096), (2048, 32, 4, 5632), (2048, 32, 8, 8192), (3072, 24, 8, 8192), (4096, 32, 8, 14336)]
# name: (stem of the classes, configuration, fields, space, gated)
DECODERS = {
	"gpt2": ("GPT2LMHeadModel", "GPT2Config", gpt2_fields, dict(shapes=[(384, 6), (768, 12), (1024, 16), (1280, 20), (1600, 25)], layers=[6, 12, 12, 24, 36], seqs=[128, 256, 512, 1024], vocabs=[50257]), False),
	"llama": ("LlamaForCausalLM", "LlamaConfig", grouped_fields, dict(shapes=LLAMA, layers=DEEP, seqs=USUAL, vocabs=[32000, 128256]), True),
	"qwen2": ("Qwen2ForCausalLM", "Qwen2Config", grouped_fields, dict(shapes=[(896, 14, 2, 4864), (1536, 12, 2, 8960), (2048, 16, 2, 11008), (3584, 28, 4, 18944)], layers=DEEP, seqs=USUAL, vocabs=[151936]), True),
	"qwen3": ("Qwen3ForCausalLM", "Qwen3Config", grouped_fields, dict(shapes=[(1024, 16, 8, 3072, 128), (2048, 16, 8, 6144, 128), (2560, 32, 8, 9728, 128)], layers=DEEP, seqs=USUAL, vocabs=[151936]), True),
	"mistral": ("MistralForCausalLM", "MistralConfig", lambda r: grouped_fields(r, sliding_window=r["window"]),
		dict(shapes=[(1024, 16, 4, 3584), (2048, 32, 8, 7168), (4096, 32, 8, 14336)], layers=DEEP, seqs=USUAL, vocabs=[32000, 32768], window=[None, 4096, 1024]), True),
	"gemma2": ("Gemma2ForCausalLM", "Gemma2Config", gemma_fields, dict(shapes=[(1024, 4, 2, 4096, 256), (1536, 8, 4, 6144, 256), (2304, 8, 4, 9216, 256)], layers=[4, 8, 12, 18, 26], seqs=USUAL, vocabs=[256000], window=[4096, 1024]), True),
	"gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", gemma_fields, dict(shapes=[(640, 4, 1, 2048, 256), (1152, 4, 1, 6912, 256), (2560, 8, 4, 10240, 256)], layers=[6, 12, 18, 26], seqs=USUAL, vocabs=[262144], window=[512, 1024]), True),
	"phi3": ("Phi3ForCausalLM", "Phi3Config", grouped_fields, dict(shapes=[(1024, 16, 16, 2816), (2048, 32, 8, 5632), (3072, 32, 32, 8192)], layers=DEEP, seqs=USUAL, vocabs=[32064]), True),
	"opt": ("OPTForCausalLM", "OPTConfig", opt_fields, dict(shapes=[(512, 8), (768, 12), (1024, 16), (2048, 32), (2560, 32)], layers=[6, 12, 24, 32], seqs=USUAL[:5], vocabs=[50272]), False),
	"gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", plain_fields, dict(shapes=[(512, 8), (768, 12), (1024, 16), (2048, 16), (2560, 32)], layers=[6, 12, 16, 24, 32], seqs=USUAL[:5], vocabs=[50304]), False),
	"falcon": ("FalconForCausalLM", "FalconConfig", falcon_fields, dict(shapes=[(1024, 16, 1), (2048, 32, 1), (2048, 32, 8), (4544, 71, 1)], layers=[4, 8, 12, 24, 32], seqs=USUAL[:5], vocabs=[65024]), False),
	"olmo2": ("Olmo2ForCausalLM", "Olmo2Config", grouped_fields, dict(shapes=[(1024, 16, 16, 2816), (2048, 16, 16, 8192), (4096, 32, 32, 11008)], layers=[4, 8, 16, 24, 32], seqs=USUAL, vocabs=[100352]), True),
	"starcoder2": ("Starcoder2ForCausalLM", "Starcoder2Config", grouped_fields, dict(shapes=[(1536, 12, 2, 6144), (3072, 24, 2, 12288)], layers=[6, 12, 20, 30], seqs=USUAL, vocabs=[49152]), False),
	"granite": ("GraniteForCausalLM", "GraniteConfig", grouped_fields, dict(shapes=[(1024, 16, 8, 4096), (2048, 32, 8, 8192)], layers=[6, 12, 24, 40], seqs=USUAL, vocabs=[49155]), True),
	"mixtral": ("MixtralForCausalLM", "MixtralConfig", lambda r: grouped_fields(r, num_local_experts=r["experts"], num_experts_per_tok=r["top"]),
		dict(shapes=[(512, 8, 4, 1408), (1024, 16, 4, 3584), (2048, 16, 4, 7168), (4096, 32, 8, 14336)], layers=[2, 4, 8, 12, 16], seqs=USUAL, vocabs=[32000], experts=[4, 8], top=[2], experts_code=[None, None, "eager"]), True),
	"qwen3_moe": ("Qwen3MoeForCausalLM", "Qwen3MoeConfig", lambda r: grouped_fields(r, moe_intermediate_size=r["ffn"], num_experts=r["experts"], num_experts_per_tok=r["top"]),
		dict(shapes=[(1024, 16, 4, 384, 128), (1024, 16, 4, 768, 64), (2048, 32, 4, 768, 128)], layers=[4, 8, 12, 24], seqs=USUAL, vocabs=[151936], experts=[16, 32, 64, 128], top=[4, 8], experts_code=[None, None, "eager"]), True),
	"olmoe": ("OlmoeForCausalLM", "OlmoeConfig", lambda r: plain_fields(r, num_key_value_heads=r["kv_heads"], num_experts=r["experts"], num_experts_per_tok=r["top"]),
		dict(shapes=[(1024, 16, 16, 512), (1024, 16, 16, 1024), (2048, 16, 16, 1024)], layers=[4, 8, 16], seqs=USUAL, vocabs=[50304], experts=[16, 32, 64], top=[4, 8], experts_code=[None, None, "eager"]), True),
}


def decoder(name):
	model, config, fields, space, gated = DECODERS[name]

	def draw(pick):
		r = pick_text(pick, **space)
		r["use_cache"] = pick.choice([0, 0, 1])
		return {k: v for k, v in r.items() if v is not None}

	def cost(r):
		body = stack(r, r["batch"], r["seq"], r["layers"], r["hidden"], r["heads"], r["ffn"], r["kv_heads"], r.get("head_dim"), gated, r.get("experts", 1), r.get("top", 1))
		return plus(body, vocab=r["vocab"], hidden=r["hidden"], tokens=r["batch"] * r["seq"], tied=name in ("gpt2", "gemma2", "gemma3", "opt"))

	def build(r):
		import loop

		r = dict(r, window=r.get("window"))
		ids = loop.tokens(r["vocab"], r["batch"], r["seq"])
		return make(r, model, config_of(r, config, **fields(r)), dict(input_ids=ids, labels=ids.clone(), **loop.padding_mask(r["mask"], r["batch"], r["seq"])))

	traits = {"checkpoints"} | (set() if "experts" in space else {"compiles"})
	return Family(name, "transformers", draw, cost, lambda r: {"samples": r["batch"], "tokens": r["batch"] * r["seq"]}, build, traits=traits)


# encoders: one sentence per sample
def deberta_fields(r):
	return dict(plain_encoder(r), relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0)


def plain_encoder(r, extra=0):
	return dict(num_hidden_layers=r["layers"], hidden_size=r["hidden"], num_attention_heads=r["heads"], intermediate_size=r["ffn"], vocab_size=r["vocab"], max_position_embeddings=max(512, r["seq"]) + extra)


def distilbert_fields(r):
	return dict(n_layers=r["layers"], dim=r["hidden"], n_heads=r["heads"], hidden_dim=r["ffn"], vocab_size=r["vocab"], max_position_embeddings=max(512, r["seq"]))


BERT = dict(shapes=[(256, 4), (512, 8), (768, 12), (768, 12), (1024, 16)], layers=[4, 6, 12, 12, 24], seqs=[64, 128, 256, 512], batch=256)
ENCODERS = {
	"bert": ("Bert", plain_encoder, dict(BERT, vocabs=[30522]), False),
	"roberta": ("Roberta", lambda r: plain_encoder(r, 2), dict(BERT, vocabs=[50265]), False),
	"electra": ("Electra", lambda r: dict(plain_encoder(r), embedding_size=r["hidden"]), dict(BERT, vocabs=[30522]), False),
	"distilbert": ("DistilBert", distilbert_fields, dict(BERT, layers=[3, 6, 6], vocabs=[30522]), False),
	"deberta_v2": ("DebertaV2", deberta_fields, dict(BERT, shapes=[(384, 6), (768, 12), (1024, 16)], layers=[6, 12, 24], vocabs=[128100], batch=64, eager=0), False),
	"modernbert": ("ModernBert", lambda r: dict(num_hidden_layers=r["layers"], hidden_size=r["hidden"], num_attention_heads=r["heads"], intermediate_size=r["ffn"], vocab_size=r["vocab"], reference_compile=False),
		dict(shapes=[(768, 12, 12, 1152), (1024, 16, 16, 2624)], layers=[6, 12, 22, 28], seqs=[128, 512, 1024, 2048], vocabs=[50368], batch=64), True),
}


def encoder(name):
	stem, fields, space, gated = ENCODERS[name]

	def draw(pick):
		r = pick_text(pick, **space)
		r.update(task=pick.choice(["mlm", "mlm", "classes"]), mask=pick.choice(["none", "ones", "padded", "padded"]))
		return r

	def cost(r):
		eager = dict(r, attention="eager") if name == "deberta_v2" else r
		body = stack(eager, r["batch"], r["seq"], r["layers"], r["hidden"], r["heads"], r["ffn"], gated=gated)
		if name == "deberta_v2":  # two additional gathered score matrices
			body.act_B, body.launches = 2.5 * body.act_B, 1.5 * body.launches
		return plus(body, vocab=r["vocab"], hidden=r["hidden"], tokens=r["batch"] * r["seq"] if r["task"] == "mlm" else 0)

	def build(r):
		import loop

		ids = loop.tokens(r["vocab"], r["batch"], r["seq"])
		labels = ids.clone() if r["task"] == "mlm" else loop.tokens(2, r["batch"])
		model = stem + ("ForMaskedLM" if r["task"] == "mlm" else "ForSequenceClassification")
		return make(r, model, config_of(r, stem + "Config", **fields(r)), dict(input_ids=ids, labels=labels, **loop.padding_mask(r["mask"], r["batch"], r["seq"])))

	traits = {"checkpoints"} | ({"compiles"} if name in ("bert", "roberta", "distilbert") else set())
	return Family(name, "transformers", draw, cost, lambda r: {"samples": r["batch"], "tokens": r["batch"] * r["seq"]}, build, traits=traits)
