/* Rows of finetune: free text -> what is tuned and how, lengths, and what was measured. */
#include "rows/set_llm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "program/transformer.h"
#include "program/tune.h"

#define has jl_llm_has

/* Tokens of a sample of Stanford's Alpaca with its prompt, which many examples tune on. */
#define ALPACA_SEQ 110.0
/* PaddleNLP's benchmark counts what is not padding, of instructions of about 100 tokens (examples/benchmark/peft). */
#define UNPADDED      "effective (unpadded)"
#define EFFECTIVE_SEQ 100.0

static double number_or(const char *cell, double otherwise)
{
	const double x = jl_llm_number(cell);

	return x > 0.0 ? x : otherwise;
}

/* How a method is weighed: `targets` JL_TARGETS_ALL or 0 where the row's own do not matter. */
static const struct method {
	const char *part;
	enum jl_tune_kind kind;
	int bare; /* no adapters inside the layers */
} methods[] = {
	{ "qdora", JL_TUNE_DORA, 0 },
	{ "dora", JL_TUNE_DORA, 0 },
	{ "q-galore", JL_TUNE_FULL, 0 },
	{ "galore", JL_TUNE_FULL, 0 },
	{ "adalora", JL_TUNE_LORA, 0 },
	{ "adapter", JL_TUNE_ADAPTER, 0 },
	{ "lora", JL_TUNE_LORA, 0 },
	{ "qlora", JL_TUNE_LORA, 0 },
	{ "full", JL_TUNE_FULL, 0 },
	{ "pretrain", JL_TUNE_FULL, 0 },
	{ "lisa", JL_TUNE_LAYERS, 0 },
	{ "llamapro", JL_TUNE_LAYERS, 0 },
	{ "ln_tuning", JL_TUNE_LORA, 1 },
	{ "beft", JL_TUNE_LORA, 1 },
	{ "prefix", JL_TUNE_LORA, 1 },
	{ "ptuning", JL_TUNE_LORA, 1 },
	{ "trainable_tokens", JL_TUNE_LORA, 1 },
};

static const struct {
	const char *part;
	unsigned targets;
} target_words[] = {
	{ "all", JL_TARGETS_ALL },      { "c_attn", JL_TARGET_QKV }, { "qkv", JL_TARGET_QKV },
	{ "query", JL_TARGET_Q },       { "value", JL_TARGET_V },    { "q_proj", JL_TARGET_Q },
	{ "k_proj", JL_TARGET_K },      { "v_proj", JL_TARGET_V },   { "o_proj", JL_TARGET_O },
	{ "attn.c_proj", JL_TARGET_O }, { "w1", JL_TARGET_GATE },    { "w2", JL_TARGET_UP },
	{ "gate", JL_TARGET_GATE },     { "up_proj", JL_TARGET_UP }, { "|up", JL_TARGET_UP },
	{ "down", JL_TARGET_DOWN },
};

static const struct {
	const char *part;
	enum jl_optimizer optimizer;
} optimizer_words[] = {
	{ "galore", JL_OPT_GALORE },       { "paged", JL_OPT_PAGED8 }, { "8bit", JL_OPT_ADAMW8 },
	{ "8-bit", JL_OPT_ADAMW8 },        { "4bit", JL_OPT_ADAMW8 },  { "4-bit", JL_OPT_ADAMW8 },
	{ "adafactor", JL_OPT_ADAFACTOR }, { "lion", JL_OPT_LION },    { "sgd", JL_OPT_SGD },
	{ "muon", JL_OPT_MUON },           { "fused", JL_OPT_FUSED },
};

static int is_eager(const struct jl_llm_row *row)
{
	return row->framework == JL_FW_EAGER || row->framework == JL_FW_GENERAL;
}

static enum jl_base base_of(const struct jl_tune_cells *more, const struct jl_llm_cells *c)
{
	const double bits = jl_llm_number(more->base_bits);
	const int gptq = has(more->method, "gptq");

	if (bits == 8.0)
		return gptq ? JL_BASE_GPTQ8 : JL_BASE_INT8;
	if (bits != 4.0)
		return JL_BASE_SAME;
	return gptq                                                       ? JL_BASE_GPTQ4
	       : has(c->framework, "LitGPT") && !has(c->remark, "nf4-dq") ? JL_BASE_NF4_1
									  : JL_BASE_NF4;
}

static enum jl_status read_method(const struct jl_tune_cells *more, const struct jl_llm_cells *c,
				  struct jl_llm_row *row, struct jl_err *err)
{
	struct jl_tune *t = &row->shard.tune;
	size_t i = 0;

	/* whole words: there are dozens of other ..lora, each with kernels of its own */
	while (i < JL_LEN(methods) && strncmp(more->method, methods[i].part, strlen(methods[i].part)) != 0)
		i++;
	const double bits = jl_llm_number(more->base_bits);

	if (bits < 4.0)
		return jl_fail(err, JL_E_DATA, "a base of %g bits is not weighed", bits);
	if (i == JL_LEN(methods) || has(more->method, "lora on the LLM"))
		return jl_fail(err, JL_E_DATA,
			       "method '%s' is not weighed; lora, qlora, dora, adapter, full, galore, lisa are",
			       more->method);
	*t = (struct jl_tune){ .kind = methods[i].kind, .base = base_of(more, c) };
	t->ends = has(more->method, "embedding");
	if (t->kind == JL_TUNE_LAYERS)
		t->n_layers = has(c->remark, "layers=4") || has(more->method, "llamapro") ? 4.0 : 2.0;
	if (!jl_tune_frozen(t) || methods[i].bare)
		return JL_OK;
	t->rank = number_or(more->rank, t->kind == JL_TUNE_ADAPTER ? 128.0 : 8.0);
	/* Llama-Adapter's prompts and gates, in the last layers, are next to nothing */
	if (t->kind == JL_TUNE_ADAPTER && has(c->framework, "LitGPT")) {
		const int v2 = has(more->method, "v2");

		*t = (struct jl_tune){ .kind = JL_TUNE_LORA, .base = t->base, .rank = v2, .scales = v2 };
	}
	for (size_t k = 0; k < JL_LEN(target_words); k++)
		if (has(more->targets, target_words[k].part))
			t->targets |= target_words[k].targets;
	if (!t->targets && has(c->remark, UNPADDED) &&
	    !has(c->model, "gpt3")) /* its scripts: q, k, v, or what makes all three */
		t->targets = has(c->model, "llama") ? JL_TARGET_Q | JL_TARGET_K | JL_TARGET_V : JL_TARGET_QKV;
	if (!t->targets)
		t->targets = JL_TARGETS_ALL;
	t->dropout = has(c->framework, "swift") || has(c->framework, "LitGPT");
	return JL_OK;
}

static void read_framework(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	if (has(c->framework, "Unsloth"))
		row->framework = JL_FW_FUSED;
	else if (has(c->framework, "Thunder"))
		row->framework = JL_FW_COMPILED;
	else if (row->framework == JL_FW_GENERAL)
		row->framework = JL_FW_EAGER;
	row->assumed &= ~(unsigned)JL_ASSUMED_FRAMEWORK;
	if (has(c->model, "baichuan") &&
	    has(c->model, "13b")) { /* biases instead of positions, which no fused attention took */
		row->model.alibi = 1;
		row->shard.flash = 0;
	}
	row->lean_host = has(c->framework, "Paddle"); /* which is C++ */
	if (row->lean_host) /* its fused attention takes no mask, which packed samples need; norms are not cut with tensors */
		row->shard.flash = row->shard.sp = row->plan.sp = 0;
	row->portable_flash = row->framework != JL_FW_MEGATRON;
	row->loss = jl_loss_of(row->framework);
	/* Those who write models for Hugging Face write norms and loss out; Qwen's first ones take flash-attn's fused norms; LitGPT has
	 * a loss in pieces. */
	row->shard.written_out = !is_eager(row) || has(c->framework, "torchtune") ? 0
				 : has(c->model, "qwen-") && row->shard.flash     ? JL_WRITTEN_LOSS
										  : JL_WRITTEN_ALL;
	/* its script for training has chunk_size=0 */
	const int chunked = has(c->framework, "LitGPT (");

	row->chunked_loss = chunked ? 8.0 : has(c->remark, "cut-cross-entropy") ? 64.0 : 0.0;
	if (row->chunked_loss > 0.0)
		row->shard.written_out &= ~(unsigned)JL_WRITTEN_LOSS;
	if (row->framework == JL_FW_FUSED)
		row->chunked_loss = 4.0;
}

static void read_states(const struct jl_tune_cells *more, const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;
	const struct jl_tune *t = &row->shard.tune;
	const int litgpt = has(c->framework, "LitGPT"), amp = has(c->precision, "amp"),
		  mixed = has(c->precision, "mixed");
	const int deepspeed = plan->zero >= 1 && plan->zero <= 3 && !has(c->zero_or_fsdp, "fsdp") && plan->dp > 1.0;
	enum jl_states states = JL_STATES_BF16;

	if (row->framework == JL_FW_MEGATRON)
		states = JL_STATES_MEGATRON;
	else if (jl_tune_frozen(t))
		states = litgpt && !mixed ? JL_STATES_BF16 : JL_STATES_FP32;
	else if (deepspeed || has(c->framework, "Paddle"))
		states = JL_STATES_MIXED;
	else if (amp || mixed)
		states = JL_STATES_FP32;
	jl_plan_set_states(plan, states);
	if (is_eager(row) && !has(c->optimizer, "fused") && !deepspeed && !row->lean_host)
		jl_plan_set_foreach(plan); /* DeepSpeed and Paddle bring a fused one */
	if (deepspeed)                     /* Trainer clips by default */
		jl_plan_set_clipped(plan);
	for (size_t i = 0; i < JL_LEN(optimizer_words); i++)
		if (has(c->optimizer, optimizer_words[i].part) || (i == 0 && has(more->method, "galore"))) {
			jl_plan_set_optimizer(plan, optimizer_words[i].optimizer, number_or(more->rank, 128.0),
					      row->model.hidden);
			break;
		}
	if (has(c->optimizer, "4bit") || has(c->optimizer, "4-bit"))
		plan->optimizer_B -= 1.0; /* two moments, each half as wide as in 8 bits */
	/* bitsandbytes' models have all that is not packed made wide (prepare_model_for_kbit_training); axolotl makes it narrow again,
	 * LLaMA-Factory does so only if it is told to (upcast_layernorm). */
	const int wide = !litgpt && is_eager(row) && (t->base == JL_BASE_NF4 || t->base == JL_BASE_INT8) &&
			 !has(c->framework, "fsdp_qlora") && !has(c->framework, "axolotl") &&
			 !has(c->framework, "LLaMA-Factory");

	/* wide weights that are cast for every product are there in both formats while a step runs */
	jl_tune_plan(plan, &row->model, t, mixed ? 6.0 : 2.0, mixed ? 6.0 : wide ? 4.0 : 2.0);
	row->shard.wide_rest = wide || (jl_tune_frozen(t) && amp);
	/* gradients are added up without an exchange, of flat parameters that hold frozen ones too */
	plan->flat_grads = litgpt && plan->zero == 3 && jl_tune_frozen(t);
	plan->keeps_live = has(c->framework, "DeepSpeed");
	plan->copies_out = has(c->zero_or_fsdp, "FSDP2");
	plan->whole_experts = has(c->framework, "Megatron-SWIFT"); /* expert_tensor_parallel_size 1, its default */
	/* DeepSpeed gathers module by module, FSDP layer by layer */
	plan->gathers = !deepspeed || row->lean_host ? 1.0 : row->model.gated ? 7.0 : 4.0;
	if (!strncmp(more->cpu_offload, "y", 1))
		plan->offload |= has(more->cpu_offload, "param") || has(c->framework, "fsdp_qlora") ||
						 has(c->framework, "axolotl")
					 ? JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS
					 : JL_OFFLOAD_OPTIMIZER;
}

/* Lengths that fall off evenly (as an exponential), those above the cap left out: how long the rest is. */
static double mean_below(double mean, double cap)
{
	return mean - cap / expm1(cap / mean);
}

/* That benchmark's commands for one GPU pack samples; those for several, which train all weights, do not (examples/benchmark/peft,
 * benchmark.py), whatever the head of its tables says. */
static bool is_packed(const struct jl_llm_cells *c, const struct jl_llm_row *row)
{
	return has(c->framework, "packing") && jl_tune_frozen(&row->shard.tune);
}

/* Lengths: the stated one is a cap where samples are what they are. Batches are padded to their longest sample, which is the nearer to
 * the cap the more there are; sorted by length they are not. */
static void read_lengths(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	const double seq = row->shard.seq, batch = row->shard.micro_batch;
	double mean = NAN;

	if (has(c->remark, "before the max_length filter"))
		mean = mean_below(jl_llm_number_after(c->remark, "news-zh, ", 0), seq);
	else if (has(c->remark, "seq_len is a cap, mean "))
		mean = jl_llm_number_after(c->remark, "cap, mean ", 0);
	else if ((has(c->framework, "LitGPT") && !has(c->remark, "2048")) || has(c->remark, "; Alpaca"))
		mean = ALPACA_SEQ;
	else if (has(c->remark, UNPADDED)) /* packed they leave half a sample open at the end of each row */
		mean = is_packed(c, row) ? seq - 0.5 * EFFECTIVE_SEQ : EFFECTIVE_SEQ;
	const int sorted = has(c->framework, "transformers+peft"), packed = has(c->remark, "packing=true");
	const int fixed = has(c->framework, "fsdp_qlora") || has(c->framework, "QwenLM") ||
			  has(c->framework, "Ulysses");

	row->ragged = row->scope >= JL_LLM_RESERVED && is_eager(row) && !sorted && !packed && !fixed;
	if (row->framework == JL_FW_FUSED)
		row->ragged = 1;
	if (!(mean < seq))
		return;
	row->mean_seq = mean;
	/* those who meet after every pass wait for the longest sample of all */
	const double met = row->plan.zero == 3 || row->plan.n_micro <= 1.0 ? row->plan.dp : 1.0;

	row->run_seq = is_packed(c, row) ? seq : sorted ? mean : jl_padded_seq(mean, seq, batch * met);
}

/* Seconds of a step from whatever is printed; NAN: nothing is. */
static double step_s(const struct jl_tune_cells *more, const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	const double iter = number_or(more->s_per_iter, NAN), samples = number_or(more->samples_per_s, NAN);
	const double rate = number_or(more->tokens_per_s_per_gpu, NAN);
	const double seq = row->mean_seq > 0.0 ? row->mean_seq : row->shard.seq;

	if (has(c->primary_metric, "mem") && !has(c->framework, "LitGPT"))
		return NAN;              /* batch or length are not stated */
	if (has(c->framework, "LitGPT")) /* an iteration is one pass */
		return iter * row->plan.n_micro;
	if (!isnan(rate))
		return row->global_batch * seq / (rate * row->n_gpus);
	return isnan(samples) ? iter : row->global_batch / samples;
}

static enum jl_llm_scope scope_of(const struct jl_llm_cells *c, const struct jl_tune_cells *more)
{
	if (has(c->framework, "LitGPT") || has(c->framework, "torchtune"))
		return JL_LLM_ALLOCATED;
	if (has(c->framework, "Unsloth") || has(c->framework, "HF TRL") || has(c->framework, "axolotl") ||
	    has(more->mem_published, "reserved") || has(c->framework, "swift"))
		return JL_LLM_RESERVED;
	return JL_LLM_DEVICE;
}

/* "ZeRO 3", "MP 4", "sequence parallel size=2": cuts as these sources write them. */
static void respell_cut(struct jl_llm_cells *c)
{
	static const struct {
		const char *part, *zero, *tp;
	} words[] = { { "NO_SHARD", "ddp", "1" },     { "ZeRO 2", "zero2", "1" },  { "ZeRO 3", "zero3", "1" },
		      { "sharding 2", "zero2", "1" }, { "MP 4", "none", "4" },     { "MP4", "none", "4" },
		      { "naive", "none", "1" },       { "max_memory", "ddp", "1" } };

	for (size_t i = 0; i < JL_LEN(words); i++)
		if (has(c->zero_or_fsdp, words[i].part)) {
			c->zero_or_fsdp = words[i].zero;
			c->tp = words[i].tp;
			return;
		}
	const char *sequence = strstr(c->zero_or_fsdp, "sequence parallel ");

	if (sequence && !*c->cp) { /* "sequence parallel 8", "sequence parallel size=2" */
		const char *at = strpbrk(sequence, "0123456789");

		c->cp = at ? at : "";
	}
	if (!*c->zero_or_fsdp && has(c->framework, "ms-swift"))
		c->zero_or_fsdp = "ddp";
	const struct {
		const char *key;
		const char **cell;
	} degrees[] = { { "tensor_model_parallel_size=", &c->tp },
			{ "pipeline_model_parallel_size=", &c->pp },
			{ "expert_model_parallel_size=", &c->ep } };

	for (size_t i = 0; i < JL_LEN(degrees) && has(c->framework, "Megatron"); i++) {
		const char *at = strstr(c->remark, degrees[i].key);

		if (!**degrees[i].cell)
			*degrees[i].cell = at ? at + strlen(degrees[i].key) : "1";
	}
}

/* How long the longest samples are where no source says, or says only what would be cut off: instructions are short, what agents
 * say to each other is long. */
static const char *longest(const struct jl_llm_cells *c)
{
	static const char *const brief = "512", *const mean = "128";

	if (has(c->framework, "Megatron-SWIFT") && !has(c->remark, "packing=true") && *c->gpu == 0)
		return mean; /* samples are not padded there */
	/* its examples tune on self-cognition and on Alpaca, whatever they cap */
	if (has(c->remark, "LAION") ||
	    (has(c->framework, "ms-swift") && *c->gpu == 0 && !has(c->remark, "packing=true")))
		return brief;
	if (*c->seq_len)
		return c->seq_len;
	return has(c->framework, "swift") && !has(c->remark, "ms-agent") ? brief : "2048";
}

/* A model that the catalog knows by its name, with or without what it was tuned for; NULL: it does not. */
static const struct jl_model_info *model_of(const char *text)
{
	static const char *const tails[] = { "-Instruct", "-instruct", "-Base", "-it", "-chat" };
	const struct jl_model_info *info = NULL;
	struct jl_err ignored;
	char name[64];

	(void)snprintf(name, sizeof(name), "%s", text);
	for (size_t i = 0; i < JL_LEN(tails); i++) {
		char *at = strstr(name, tails[i]);

		if (at)
			*at = '\0';
	}
	return jl_find_model(&info, jl_catalog_embedded(), name, &ignored) == JL_OK ? info : NULL;
}

/* Layers on one device after the other, a micro-batch at a time: nothing runs side by side. */
static void set_naive(struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;

	plan->pp = row->n_gpus;
	plan->dp = plan->tp = 1.0;
	plan->zero = 0;
	plan->serial = 1;
	plan->n_micro = fmax(1.0, round(row->global_batch / row->shard.micro_batch));
}

enum jl_status jl_tune_row_read(struct jl_llm_cells *c, const struct jl_tune_cells *more,
				const struct jl_llm_find *find, struct jl_llm_row *ret_row, struct jl_err *err)
{
	struct jl_llm_row row;
	const int oom = has(more->oom, "y"), no_gpu = !*c->gpu, naive = has(c->zero_or_fsdp, "naive");
	const int unstated = !*c->seq_len, seeing = has(c->model, "VL") && jl_llm_number(c->hidden) > 0.0;
	const double all_params = number_or(c->params_b, NAN) * 1e9;
	const int named_only = isnan(jl_llm_number(c->hidden)) && isnan(jl_llm_number(c->params_b));

	if (has(more->confidence, "source-estimate"))
		return jl_fail(err, JL_E_DATA, "an estimate of its source, not a measurement");
	const struct jl_model_info *info = named_only ? model_of(c->model) : NULL;

	if (named_only && !info)
		return jl_fail(err, JL_E_DATA, "neither dimensions nor parameters of '%s' are stated", c->model);
	c->recompute = has(more->grad_checkpointing, "selective")                             ? "selective"
		       : *more->grad_checkpointing == 'y'                                     ? "full"
		       : *more->grad_checkpointing == 'n' || *more->grad_checkpointing == 'f' ? "none"
		       : has(c->framework, "LitGPT")                                          ? "none"
											      : "full";
	c->seq_len = longest(c);
	if (no_gpu)
		c->gpu = "A100 SXM 80GB"; /* only its memory is asked for */
	if (!*c->micro_batch &&
	    has(c->remark, UNPADDED)) /* of all devices, whose scripts say how many each has: no accumulation */
		c->micro_batch = jl_arena_printf(find->arena, "%g",
						 ceil(number_or(c->global_batch, 1.0) /
						      (has(c->zero_or_fsdp, "MP") ? 1.0 : number_or(c->n_gpus, 1.0))));
	else if (!*c->micro_batch && has(c->framework, "HF Trainer") && *c->global_batch)
		c->micro_batch = c->global_batch; /* of one device, where a table has one column for it */
	else if (!*c->micro_batch && !*c->global_batch)
		c->micro_batch = "1";
	if (has(c->remark, "ms-agent")) /* scripts/benchmark/config/tuner.json */
		c->global_batch = jl_arena_printf(find->arena, "%g", 16.0 * number_or(c->n_gpus, 1.0));
	if (seeing)
		c->params_b = ""; /* with the tower: no width of the decoder follows from it */
	respell_cut(c);
	JL_TRY(jl_llm_row_read(c, find, &row, err));
	if (info)
		jl_transformer_from_catalog(&row.model, info);
	read_framework(c, &row);
	JL_TRY(read_method(more, c, &row, err));
	if (naive)
		set_naive(&row);
	read_states(more, c, &row);
	if (seeing && row.plan.frozen_frac > 0.0) /* the tower is neither packed nor trained */
		row.plan.frozen_B += 2.0 * fmax(all_params / jl_transformer_params(&row.model).total - 1.0, 0.0);
	row.scope = scope_of(c, more);
	read_lengths(c, &row);
	row.unscored = NULL;
	/* rows packed full of images: reading them and the pass through their tower are not weighed, only what the tower holds */
	row.meas_s = no_gpu || unstated || (seeing && has(c->remark, "packed to")) ? NAN : step_s(more, c, &row);
	row.meas_mem_B = number_or(c->mem_gib_per_gpu, NAN) * 1073741824.0;
	row.metric = isnan(row.meas_s) ? JL_LLM_MEMORY : JL_LLM_TIME;
	if (oom) {
		row.least_B = row.gpu.dev.mem_B;
		row.meas_mem_B = row.least_B;
		row.scope = JL_LLM_DEVICE;
	}
	if (isnan(row.meas_s) && isnan(row.meas_mem_B))
		return jl_fail(err, JL_E_DATA, "neither a time nor memory is stated");
	*ret_row = row;
	return JL_OK;
}

/* Models by the names that these sources have for them. */
static const struct {
	const char *part, *id;
} large_names[] = {
	{ "DeepSeekV3", "deepseek-v3" },      { "DeepSeek V3", "deepseek-v3" },
	{ "DeepSeek-V3", "deepseek-v3" },     { "OSS 120B", "gpt-oss-120b" },
	{ "OSS 20B", "gpt-oss-20b" },         { "Qwen3_30B", "qwen3-30b-a3b" },
	{ "Qwen3 MoE 30B", "qwen3-30b-a3b" }, { "Qwen3_235B", "qwen3-235b-a22b" },
	{ "Qwen3-235B", "qwen3-235b-a22b" },  { "Kimi", "kimi-k2" },
	{ "Maverick", "llama-4-maverick" },   { "Scout", "llama-4-scout" },
	{ "LLAMA3_8B", "llama3-8b" },         { "LLAMA3_70B", "llama3-70b" },
	{ "LLAMA3.1_405B", "llama3-405b" },
};

/* A mixture that is not in the catalog: a gated feed-forward part of that width for each expert. */
static void set_experts(struct jl_llm_row *row, const struct jl_tune_cells *more)
{
	const double n = number_or(more->n_experts, 0.0);

	if (n > 0.0 && !(row->model.moe.n_experts > 0.0)) {
		row->model.gated = 1;
		row->model.moe = (struct jl_moe){ .n_experts = n,
						  .top_k = number_or(more->topk, 1.0),
						  .expert_ffn = number_or(more->moe_ffn, row->model.ffn) };
	}
}

/* What tables do not print and the recipes beside them say: MaxText's of that directory (configs/gpu/models/llama2_7b.yml and its 1vm.sh),
 * Automodel's (examples/llm_benchmark). */
static void read_recipe(struct jl_llm_cells *c, const struct jl_tune_cells *more, const struct jl_llm_find *find)
{
	const double n = number_or(c->n_gpus, 1.0);

	if (has(c->framework, "MaxText") && has(c->remark, "config file of that directory")) {
		c->seq_len = "4096";
		c->micro_batch = "4";
		c->global_batch = jl_arena_printf(find->arena, "%.0f", 4.0 * n);
		c->zero_or_fsdp = "hsdp";
		c->recompute = "selective"; /* minimal_with_context */
	}
	if (!has(c->framework, "Automodel"))
		return;
	if (n > 1.0 && !has(c->model, "gpt-oss"))
		c->recompute = "full";
	if (!*c->ep && *more->n_experts) /* over all of them, up to 64 */
		c->ep = jl_arena_printf(find->arena, "%.0f", fmin(n, 64.0));
}

enum jl_status jl_large_row_read(struct jl_llm_cells *c, const struct jl_tune_cells *more,
				 const struct jl_llm_find *find, struct jl_llm_row *ret_row, struct jl_err *err)
{
	const double n = number_or(c->n_gpus, 1.0);
	struct jl_llm_row row;

	if (has(c->gpu, "TPU") || has(c->gpu, "Trainium"))
		return jl_fail(err, JL_E_DATA, "training on %s is not weighed: its rates are listed, none is measured",
			       c->gpu);
	if (isnan(jl_llm_number(c->hidden)) || has(c->model, "Nemotron-H") || has(c->model, "Qwen3-Next"))
		return jl_fail(err, JL_E_DATA, "'%s' is no transformer of a known shape", c->model);
	for (size_t i = 0; i < JL_LEN(large_names); i++)
		if (has(c->model, large_names[i].part)) {
			c->model = large_names[i].id;
			break;
		}
	if (has(c->gpu, "GB200") || has(c->gpu, "GB300")) /* racks of 72 are one NVLink domain: so many as GPUs need */
		c->nodes = jl_arena_printf(find->arena, "%.0f", ceil(n / 72.0));
	if (has(c->remark, "not printed"))
		return jl_fail(err, JL_E_DATA, "neither batch nor model is stated");
	/* a pipeline is kept full; experts that nobody counts are spread inside a host */
	if (!*c->global_batch && number_or(c->pp, 1.0) > 1.0)
		c->global_batch = jl_arena_printf(find->arena, "%.0f", 8.0 * n / number_or(c->tp, 1.0));
	if (!*c->micro_batch && number_or(c->pp, 1.0) > 1.0)
		c->micro_batch = "1";
	if (*more->n_experts)
		c->params_b = ""; /* all experts' together: no width follows from it */
	read_recipe(c, more, find);
	if (!*c->flash_attn)
		c->flash_attn = "y";
	JL_TRY(jl_llm_row_read(c, find, &row, err));
	if (row.unscored)
		return jl_fail(err, JL_E_DATA, "column %s: %s", "primary_metric", row.unscored);
	set_experts(&row, more);
	/* behind the work of another micro-batch, which a pipeline has in flight; nobody spreads experts over hosts without */
	row.plan.ep_async = row.plan.ep > 1.0 && (row.plan.pp > 1.0 || row.plan.ep * row.plan.tp > row.n_per_node);
	*ret_row = row;
	return JL_OK;
}
