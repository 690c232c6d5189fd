/* Fine-tuning: trained parameters, packed weights and optimizer states. */
#include "program/tune.h"

#include <math.h>
#include <stddef.h>

/* Bytes with scales: 4-bit blocks of 64 have an 8-bit scale each and an fp32 scale per 256 of those (4.127 bits per weight), or an fp32 scale
 * (4.5); groups of 128 have a 16-bit scale and a zero point. Clocks: a separate kernel looks every value up. */
static const struct {
	const char *name;
	double weight_B, clocks;
} bases[JL_N_BASE] = {
	[JL_BASE_SAME] = { "16bit", 0.0, 0.0 },
	[JL_BASE_NF4] = { "nf4", 4.127 / 8.0, 1.2 },
	[JL_BASE_NF4_1] = { "nf4-single", 4.5 / 8.0, 1.2 },
	[JL_BASE_INT8] = { "int8", 1.002, 1.2 },
	[JL_BASE_GPTQ4] = { "gptq4", 4.16 / 8.0, 2.0 },
	[JL_BASE_GPTQ8] = { "gptq8", 8.16 / 8.0, 2.0 },
};

static const char *const kinds[JL_N_TUNE] = { [JL_TUNE_FULL] = "full",
					      [JL_TUNE_LORA] = "lora",
					      [JL_TUNE_DORA] = "dora",
					      [JL_TUNE_ADAPTER] = "adapter",
					      [JL_TUNE_LAYERS] = "layers" };

int jl_tune_frozen(const struct jl_tune *tune)
{
	return tune->kind != JL_TUNE_FULL && tune->kind != JL_TUNE_LAYERS;
}

double jl_base_B(enum jl_base base, double act_B)
{
	return bases[base].weight_B > 0.0 ? bases[base].weight_B : act_B;
}

double jl_base_clocks(enum jl_base base)
{
	return bases[base].clocks;
}

const char *jl_base_name(enum jl_base base)
{
	return bases[base].name;
}

const char *jl_tune_name(enum jl_tune_kind kind)
{
	return kinds[kind];
}

static double tune_layer_params(const struct jl_transformer *m, const struct jl_tune *t)
{
	const double h = m->hidden, q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
	const double ffn = m->moe.n_experts > 0.0 ? m->moe.expert_ffn : m->ffn;
	const double n_ffn = m->moe.n_experts > 0.0 ? m->moe.n_experts + m->moe.n_shared : 1.0;
	const struct {
		unsigned target;
		double sides, times;
	} beside[] = {
		{ JL_TARGET_Q, h + q, 1.0 },      { JL_TARGET_K, h + kv, 1.0 },
		{ JL_TARGET_V, h + kv, 1.0 },     { JL_TARGET_QKV, h + q + 2.0 * kv, 1.0 },
		{ JL_TARGET_O, q + h, 1.0 },      { JL_TARGET_GATE, h + ffn, m->gated ? n_ffn : 0.0 },
		{ JL_TARGET_UP, h + ffn, n_ffn }, { JL_TARGET_DOWN, ffn + h, n_ffn },
	};
	double sides = 0.0, rows = 0.0;

	if (t->kind == JL_TUNE_ADAPTER) /* down, up and their biases, twice */
		return 2.0 * (2.0 * h * t->rank + t->rank + h);
	for (size_t i = 0; i < JL_LEN(beside); i++)
		if (t->targets & beside[i].target) {
			sides += beside[i].sides * beside[i].times;
			rows += (beside[i].sides - h) * beside[i].times;
		}
	return sides * t->rank + (t->kind == JL_TUNE_DORA ? rows : 0.0);
}

double jl_tune_params(const struct jl_transformer *m, const struct jl_tune *t)
{
	const struct jl_transformer_params p = jl_transformer_params(m);
	const double ends = t->ends ? p.embed + p.head : 0.0;

	if (t->kind == JL_TUNE_FULL)
		return p.total;
	if (t->kind == JL_TUNE_LAYERS)
		return fmin(t->n_layers, m->n_layers) / m->n_layers * (p.total - p.embed - p.head) + ends;
	return m->n_layers * tune_layer_params(m, t) + ends;
}

void jl_tune_plan(struct jl_plan *plan, const struct jl_transformer *m, const struct jl_tune *t, double act_B,
		  double ends_B)
{
	const struct jl_transformer_params p = jl_transformer_params(m);
	const double trained = t->kind == JL_TUNE_FULL ? p.total : jl_tune_params(m, t),
		     layers = p.total - p.embed - p.head;
	const double whole = t->kind == JL_TUNE_LAYERS ? trained : t->ends ? p.embed + p.head : 0.0;

	plan->trained_frac = trained / p.total;
	plan->frozen_frac = t->kind == JL_TUNE_FULL ? 0.0 : 1.0 - whole / p.total;
	plan->frozen_B = t->ends ? jl_base_B(t->base, act_B)
				 : (layers * jl_base_B(t->base, act_B) + (p.embed + p.head) * ends_B) / p.total;
}

double jl_padded_seq(double mean_seq, double longest_seq, double n_samples)
{
	/* lengths of instruction samples have a standard deviation of half their mean: the longest of n grows with ln n */
	return fmin(longest_seq, mean_seq * (1.0 + 0.5 * log(n_samples)));
}

/* moments: number of AdamW-format moments; narrow_B: bytes per parameter in other formats; moved: bytes of a pass / AdamW's. Muon runs five rounds
 * of three products with the matrix's shorter side. */
static const struct optimizer {
	const char *name;
	double moments, narrow_B, moved, kernels;
} optimizers[JL_N_OPTIMIZER] = {
	[JL_OPT_FOREACH] = { "foreach", 2.0, 0.0, 1.0, 0.0 },
	[JL_OPT_FUSED] = { "fused", 2.0, 0.0, 1.0, 0.0 },
	[JL_OPT_ADAMW8] = { "adamw8bit", 0.0, 2.03, 0.6, 7.0 }, /* one kernel per tensor */
	[JL_OPT_PAGED8] = { "paged8bit", 0.0, 2.03, 0.6, 7.0 },
	[JL_OPT_ADAFACTOR] = { "adafactor", 0.0, 0.01, 1.5, 100.0 }, /* per tensor: squares, sums, roots */
	[JL_OPT_LION] = { "lion", 1.0, 0.0, 0.7, 35.0 },
	[JL_OPT_SGD] = { "sgd", 0.0, 0.0, 0.4, 4.0 },
	[JL_OPT_MUON] = { "muon", 1.0, 0.0, 1.5, 200.0 },
	[JL_OPT_GALORE] = { "galore", 2.0, 0.0, 2.0, 140.0 },
};

const char *jl_optimizer_name(enum jl_optimizer optimizer)
{
	return optimizers[optimizer].name;
}

void jl_plan_set_optimizer(struct jl_plan *plan, enum jl_optimizer optimizer, double rank, double hidden)
{
	const struct optimizer *o = &optimizers[optimizer];
	/* AdamW's moments are fp32, or everything is 16 bits; the rest of optimizer_B is the master copy */
	const double moment_B = plan->optimizer_B < 8.0 ? 2.0 : 4.0, master_B = plan->optimizer_B - 2.0 * moment_B;
	const double kept = optimizer == JL_OPT_GALORE ? fmin(1.0, rank / hidden) : 1.0;

	if (optimizer <= JL_OPT_FUSED)
		return;
	/* one pass of fused AdamW: read gradients, read and write states and master, write weights (without a master: read them too) */
	const double fused_B = plan->grad_B + 2.0 * plan->optimizer_B + plan->weight_B * (master_B > 0.0 ? 1.0 : 2.0);

	plan->update_copies = 0; /* the optimizer works per tensor */
	plan->optimizer_B = master_B + o->moments * moment_B * kept + o->narrow_B;
	if (optimizer == JL_OPT_GALORE)
		plan->optimizer_B += moment_B * kept; /* bytes of the projection */
	plan->optimizer_moved_B = fused_B * o->moved;
	plan->optimizer_kernels = o->kernels;
	plan->optimizer_flop = optimizer == JL_OPT_MUON ? 5.0 * 3.0 * 2.0 * hidden : 0.0;
	plan->paged = optimizer == JL_OPT_PAGED8;
}
