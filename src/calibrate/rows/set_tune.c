/* Reads rows of finetune (method, lengths, measurements) and of moe_and_large. */
#include "rows/set_llm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "program/transformer.h"
#include "program/tune.h"

/* share of a sample left unfilled at the end of PaddleNLP's packed rows */
#define OPEN_FRAC 0.5

static double number_or(const char *cell, double otherwise)
{
	const double x = jl_llm_number(cell);

	return x > 0.0 ? x : otherwise;
}

static int is_eager(const struct jl_llm_row *row)
{
	return row->framework == JL_FW_EAGER || row->framework == JL_FW_GENERAL;
}

static enum jl_base base_of(const struct jl_tune_cells *more, const struct jl_llm_text *said)
{
	const double bits = jl_llm_number(more->base_bits);
	const int gptq = said->base_packing == JL_TEXT_GPTQ;

	if (bits == 8.0)
		return gptq ? JL_BASE_GPTQ8 : JL_BASE_INT8;
	if (bits != 4.0)
		return JL_BASE_SAME;
	return gptq ? JL_BASE_GPTQ4 : said->base_packing == JL_TEXT_SINGLE ? JL_BASE_NF4_1 : JL_BASE_NF4;
}

static enum jl_status read_method(const struct jl_tune_cells *more, const struct jl_llm_text *said,
				  struct jl_llm_row *row, struct jl_err *err)
{
	static const enum jl_tune_kind kinds[] = {
		[JL_TEXT_LORA] = JL_TUNE_LORA,           [JL_TEXT_QLORA] = JL_TUNE_LORA,
		[JL_TEXT_DORA] = JL_TUNE_DORA,           [JL_TEXT_ADAPTER] = JL_TUNE_ADAPTER,
		[JL_TEXT_ALL_WEIGHTS] = JL_TUNE_FULL,    [JL_TEXT_LAYERS] = JL_TUNE_LAYERS,
		[JL_TEXT_BARE] = JL_TUNE_LORA,           [JL_TEXT_PROMPTS] = JL_TUNE_LORA,
		[JL_TEXT_SCALED_PROMPTS] = JL_TUNE_LORA,
	};
	struct jl_tune *t = &row->shard.tune;
	const double bits = jl_llm_number(more->base_bits);

	if (bits < 4.0)
		return jl_fail(err, JL_E_DATA, "a base of %g bits is not supported", bits);
	if (!said->tuning)
		return jl_fail(err, JL_E_DATA,
			       "method '%s' is not supported; lora, qlora, dora, adapter, full, galore, lisa are",
			       more->method);
	*t = (struct jl_tune){ .kind = kinds[said->tuning], .base = base_of(more, said), .ends = said->tuned_ends };
	if (t->kind == JL_TUNE_LAYERS)
		t->n_layers = fmax(said->tuned_layers, 2.0);
	if (!jl_tune_frozen(t) || said->tuning == JL_TEXT_BARE)
		return JL_OK;
	t->rank = number_or(more->rank, t->kind == JL_TUNE_ADAPTER ? 128.0 : 8.0);
	/* Llama-Adapter's prompts and gates in the last layers are negligible */
	if (said->tuning >= JL_TEXT_PROMPTS)
		t->rank = t->scales = said->tuning == JL_TEXT_SCALED_PROMPTS;
	t->targets = said->targets_as ? said->targets_as : JL_TARGETS_ALL;
	t->dropout = said->tune_dropout;
	return JL_OK;
}

static void read_framework(const struct jl_llm_text *said, struct jl_llm_row *row)
{
	if (said->alibi) { /* ALiBi biases, which no fused attention supported */
		row->model.alibi = 1;
		row->shard.flash = 0;
	}
	row->lean_host = said->lean_host; /* Paddle's host code is C++ */
	if (row->lean_host) /* its fused attention supports no mask, which packed samples need; no sequence parallelism */
		row->shard.flash = row->shard.sp = row->plan.sp = 0;
	row->portable_flash = row->framework != JL_FW_MEGATRON;
	row->loss = jl_loss_of(row->framework);
	/* Hugging Face models compute norms and loss unfused; the first Qwen models use flash-attn's fused norms; LitGPT computes the loss in
	 * chunks */
	row->shard.written_out = !is_eager(row) || said->written == JL_TEXT_UNWRITTEN        ? 0
				 : said->written == JL_TEXT_WRITTEN_LOSS && row->shard.flash ? JL_WRITTEN_LOSS
											     : JL_WRITTEN_ALL;
	row->chunked_loss = fmax(said->loss_chunks, 0.0);
	if (row->chunked_loss > 0.0)
		row->shard.written_out &= ~(unsigned)JL_WRITTEN_LOSS;
	if (row->framework == JL_FW_FUSED)
		row->chunked_loss = 4.0;
}

static void read_states(const struct jl_llm_text *said, const struct jl_tune_cells *more, struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;
	const struct jl_tune *t = &row->shard.tune;
	const int mixed = said->autocast == JL_TEXT_MIXED, fused = said->optimizer_as == JL_OPT_FUSED;
	const int deepspeed = plan->zero >= 1 && plan->zero <= 3 && !said->fsdp && plan->dp > 1.0;
	enum jl_states states = (enum jl_states)said->states_as;

	if (row->framework == JL_FW_MEGATRON)
		states = JL_STATES_MEGATRON;
	else if (jl_tune_frozen(t))
		states = said->frozen_narrow ? JL_STATES_BF16 : JL_STATES_FP32;
	else if (deepspeed)
		states = JL_STATES_MIXED;
	jl_plan_set_states(plan, states);
	if (is_eager(row) && !fused && !deepspeed && !row->lean_host)
		jl_plan_set_foreach(plan); /* DeepSpeed and Paddle have fused optimizers */
	if (deepspeed)                     /* Hugging Face Trainer clips gradients by default */
		jl_plan_set_clipped(plan);
	const int in_4_bits = said->optimizer_as == JL_TEXT_ADAMW4;

	if (said->optimizer_as)
		jl_plan_set_optimizer(plan, in_4_bits ? JL_OPT_ADAMW8 : (enum jl_optimizer)said->optimizer_as,
				      number_or(more->rank, 128.0), row->model.hidden);
	if (in_4_bits)
		plan->optimizer_B -= 1.0; /* two moments at half the width of 8 bits */
	/* bitsandbytes models convert all unpacked weights to fp32 (prepare_model_for_kbit_training); axolotl converts them back, LLaMA-Factory
	 * keeps fp32 only on request (upcast_layernorm) */
	const int wide = is_eager(row) && (t->base == JL_BASE_NF4 || t->base == JL_BASE_INT8) && !said->rest_narrow;

	/* fp32 weights cast for every product exist in both formats during a step */
	jl_tune_plan(plan, &row->model, t, mixed ? 6.0 : 2.0, mixed ? 6.0 : wide ? 4.0 : 2.0);
	row->shard.wide_rest = wide || (jl_tune_frozen(t) && said->autocast == JL_TEXT_AMP);
	/* gradients are accumulated unsharded, in flat parameters that include frozen ones */
	plan->flat_grads = said->flat_grads && plan->zero == 3 && jl_tune_frozen(t);
	plan->keeps_live = said->keeps_live;
	plan->copies_out = said->fsdp == JL_TEXT_FSDP2;
	plan->whole_experts = said->whole_experts; /* expert_tensor_parallel_size 1, Megatron-SWIFT's default */
	/* DeepSpeed gathers module by module, FSDP layer by layer */
	plan->gathers = !deepspeed || row->lean_host ? 1.0 : row->model.gated ? 7.0 : 4.0;
	plan->offload |= said->offload;
}

/* Mean of exponentially distributed lengths without those above the cap. */
static double mean_below(double mean, double cap)
{
	return mean - cap / expm1(cap / mean);
}

/* Lengths. The stated one is a cap if samples keep their own lengths. Batches are padded to their longest sample, which approaches the cap as
 * batches grow, unless samples are sorted by length. */
static void read_lengths(const struct jl_llm_text *said, struct jl_llm_row *row)
{
	const double seq = row->shard.seq, batch = row->shard.micro_batch;
	const double mean = said->mean_uncut    ? mean_below(said->mean_seq_as, seq)
			    : said->rows_packed ? seq - OPEN_FRAC * said->mean_seq_as
						: said->mean_seq_as;

	row->ragged = row->scope >= JL_LLM_RESERVED && is_eager(row) && !said->lengths;
	if (row->framework == JL_FW_FUSED)
		row->ragged = 1;
	if (!(mean < seq))
		return;
	row->mean_seq = mean;
	/* ranks that synchronise after every pass wait for the longest sample of all */
	const double met = row->plan.zero == 3 || row->plan.n_micro <= 1.0 ? row->plan.dp : 1.0;

	row->run_seq = said->rows_packed                 ? seq
		       : said->lengths == JL_TEXT_SORTED ? mean
							 : jl_padded_seq(mean, seq, batch * met);
}

/* Seconds per step from the printed metric; NAN: none. */
static double step_s(const struct jl_tune_cells *more, const struct jl_llm_text *said, struct jl_llm_row *row)
{
	const double iter = number_or(more->s_per_iter, NAN), samples = number_or(more->samples_per_s, NAN);
	const double rate = number_or(more->tokens_per_s_per_gpu, NAN);
	const double seq = row->mean_seq > 0.0 ? row->mean_seq : row->shard.seq;

	if (said->iter_is_pass)
		return iter * row->plan.n_micro;
	if (said->primary_metric == JL_TEXT_MEMORY)
		return NAN; /* batch or length unstated */
	if (!isnan(rate))
		return row->global_batch * seq / (rate * row->n_gpus);
	return isnan(samples) ? iter : row->global_batch / samples;
}

/* Catalog model by name, with or without a fine-tuning suffix; NULL: unknown. */
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

/* Layers spread over devices without pipelining: one micro-batch at a time. */
static void set_naive(struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;

	plan->pp = row->n_gpus;
	plan->dp = plan->tp = 1.0;
	plan->zero = 0;
	plan->serial = 1;
	plan->n_micro = fmax(1.0, round(row->global_batch / row->shard.micro_batch));
}

/* Batch per device: from the table's single column, divided by the script, or 1. */
static double micro_batch(const struct jl_llm_cells *c, const struct jl_llm_text *said)
{
	const double global = number_or(c->global_batch, 1.0);

	if (*c->micro_batch)
		return NAN;
	if (said->batch_of == JL_TEXT_OF_RANK || said->batch_of == JL_TEXT_OF_ALL)
		return ceil(global / (said->batch_of == JL_TEXT_OF_RANK ? 1.0 : number_or(c->n_gpus, 1.0)));
	if (said->batch_of == JL_TEXT_OF_DEVICE && *c->global_batch)
		return jl_llm_number(c->global_batch);
	return *c->global_batch ? NAN : 1.0;
}

enum jl_status jl_tune_row_read(struct jl_llm_cells *c, const struct jl_tune_cells *more, struct jl_llm_text *said,
				const struct jl_llm_find *find, struct jl_llm_row *ret_row, struct jl_err *err)
{
	struct jl_llm_row row;
	const int no_gpu = !*c->gpu, seeing = said->seeing && jl_llm_number(c->hidden) > 0.0, unstated = !*c->seq_len;
	const double all_params = number_or(c->params_b, NAN) * 1e9;
	const int named_only = isnan(jl_llm_number(c->hidden)) && isnan(jl_llm_number(c->params_b));

	if (said->reject == JL_REJECT_ESTIMATE)
		return jl_fail(err, JL_E_DATA, "an estimate of its source, not a measurement");
	const struct jl_model_info *info = named_only ? model_of(c->model) : NULL;

	if (named_only && !info)
		return jl_fail(err, JL_E_DATA, "neither dimensions nor parameters of '%s' are stated", c->model);
	if (no_gpu)
		c->gpu = "A100 SXM 80GB"; /* no card is stated: only memory is scored */
	said->micro_as = micro_batch(c, said);
	said->global_as = said->global_per_gpu * number_or(c->n_gpus, 1.0);
	if (seeing)
		c->params_b = ""; /* includes the vision tower: the decoder's width cannot be derived from it */
	JL_TRY(jl_llm_row_read(c, said, find, &row, err));
	if (info)
		jl_transformer_from_catalog(&row.model, info);
	read_framework(said, &row);
	JL_TRY(read_method(more, said, &row, err));
	if (said->naive)
		set_naive(&row);
	read_states(said, more, &row);
	if (seeing && row.plan.frozen_frac > 0.0) /* the vision tower is neither packed nor trained */
		row.plan.frozen_B += 2.0 * fmax(all_params / jl_transformer_params(&row.model).total - 1.0, 0.0);
	read_lengths(said, &row);
	row.unscored = NULL;
	/* packed image rows: loading and the tower's pass are not predicted, only its memory */
	row.meas_s = no_gpu || unstated || (seeing && said->images_packed) ? NAN : step_s(more, said, &row);
	row.meas_mem_B = number_or(c->mem_gib_per_gpu, NAN) * 1073741824.0;
	row.metric = isnan(row.meas_s) ? JL_LLM_MEMORY : JL_LLM_TIME;
	if (jl_llm_yes(more->oom)) {
		row.least_B = row.gpu.dev.mem_B;
		row.meas_mem_B = row.least_B;
		row.scope = JL_LLM_DEVICE;
	}
	if (isnan(row.meas_s) && isnan(row.meas_mem_B))
		return jl_fail(err, JL_E_DATA, "neither a time nor memory is stated");
	*ret_row = row;
	return JL_OK;
}

/* MoE missing from the catalog: a gated feed-forward part of that width per expert. */
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

enum jl_status jl_large_row_read(struct jl_llm_cells *c, const struct jl_tune_cells *more, struct jl_llm_text *said,
				 const struct jl_llm_find *find, struct jl_llm_row *ret_row, struct jl_err *err)
{
	const double n = number_or(c->n_gpus, 1.0), stages = number_or(c->pp, 1.0);
	struct jl_llm_row row;

	if (said->reject == JL_REJECT_ACCELERATOR)
		return jl_fail(err, JL_E_DATA,
			       "training on %s is not supported: its rates are listed, none is measured", c->gpu);
	if (isnan(jl_llm_number(c->hidden)) || said->reject == JL_REJECT_SHAPE)
		return jl_fail(err, JL_E_DATA, "'%s' is not a transformer of a known shape", c->model);
	if (*c->catalog_model)
		c->model = c->catalog_model;
	if (said->rack) /* racks of 72 are one NVLink domain: as many racks as the GPUs need */
		said->nodes_as = ceil(n / 72.0);
	if (said->reject == JL_REJECT_UNSTATED)
		return jl_fail(err, JL_E_DATA, "neither batch nor model is stated");
	/* a pipeline is assumed full; an unstated number of experts is distributed inside a host */
	if (!*c->global_batch && stages > 1.0)
		said->global_as = 8.0 * n / number_or(c->tp, 1.0);
	if (!isnan(said->global_per_gpu))
		said->global_as = said->global_per_gpu * n;
	if (!*c->micro_batch && stages > 1.0 && isnan(said->micro_as))
		said->micro_as = 1.0;
	if (*more->n_experts)
		c->params_b = ""; /* total of all experts: no width can be derived from it */
	if (said->experts_spread && !*c->ep && *more->n_experts) /* experts distributed over all ranks, up to 64 */
		said->ep_as = fmin(n, 64.0);
	JL_TRY(jl_llm_row_read(c, said, find, &row, err));
	if (row.unscored)
		return jl_fail(err, JL_E_DATA, "column %s: %s", "primary_metric", row.unscored);
	set_experts(&row, more);
	/* overlaps with another micro-batch, which a pipeline has in flight; without overlap experts are not distributed over hosts */
	row.plan.ep_async = row.plan.ep > 1.0 && (row.plan.pp > 1.0 || row.plan.ep * row.plan.tp > row.n_per_node);
	*ret_row = row;
	return JL_OK;
}
