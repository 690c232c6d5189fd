/* A published training run as a jeoul command line: only options that the row states. */
#include "rows/set_llm.h"

#include <math.h>
#include <string.h>

#include "catalog/find.h"
#include "program/transformer.h"
#include "program/tune.h"

static const char *const recomputes[] = {
	[JL_RECOMPUTE_NONE] = "none", [JL_RECOMPUTE_SELECTIVE] = "selective", [JL_RECOMPUTE_FULL] = "full"
};

static void put_system(struct jl_buf *out, const struct jl_llm_row *row)
{
	if (row->n_nodes > 1)
		jl_buf_printf(out, " --on \"%dx(%dx %s)\"", row->n_nodes, row->n_per_node, row->gpu.id);
	else
		jl_buf_printf(out, " --on \"%dx %s\"", row->n_gpus, row->gpu.id);
}

/* Writes degrees of 1 too: omitted ones would be chosen by the program. */
static void put_plan(struct jl_buf *out, const struct jl_plan *plan)
{
	const bool cut = plan->tp > 1.0;
	const struct {
		const char *key;
		double degree;
		bool given;
	} degrees[] = {
		{ "dp", plan->dp, true },
		{ "tp", plan->tp, true },
		{ "sp", plan->sp, cut },
		{ "overlap", plan->tp_async, cut && plan->tp_async },
		{ "pp", plan->pp, true },
		{ "vpp", plan->n_chunks, plan->pp > 1.0 && plan->n_chunks > 1.0 },
		{ "cp", plan->cp, plan->cp > 1.0 },
		{ "ep", plan->ep, plan->ep > 1.0 },
		{ "zero", plan->zero, true },
	};
	const char *before = " --parallel ";

	for (size_t i = 0; i < JL_LEN(degrees); i++) {
		if (!degrees[i].given)
			continue;
		jl_buf_printf(out, "%s%s=%.0f", before, degrees[i].key, degrees[i].degree);
		before = ",";
	}
}

static void put_tune(struct jl_buf *out, const struct jl_tune *tune)
{
	static const char *const words[] = { [JL_TUNE_FULL] = "full",
					     [JL_TUNE_LORA] = "lora",
					     [JL_TUNE_DORA] = "dora",
					     [JL_TUNE_ADAPTER] = "adapter",
					     [JL_TUNE_LAYERS] = "layers" };

	jl_buf_printf(out, " --tune %s", words[tune->kind]);
	if (tune->rank > 0.0)
		jl_buf_printf(out, " --rank %.0f", tune->rank);
	if (tune->base != JL_BASE_SAME)
		jl_buf_printf(out, " --base %s", jl_base_name(tune->base));
}

/* Catalog model of exactly this shape, the one with the shortest name; NULL: none. */
static const char *named(const struct jl_transformer *model)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	const char *name = NULL;

	for (size_t i = 0; i < cat->n_models; i++) {
		struct jl_transformer m;

		jl_transformer_from_catalog(&m, &cat->models[i]);
		if (m.n_layers == model->n_layers && m.hidden == model->hidden && m.heads == model->heads &&
		    m.kv_heads == model->kv_heads && m.ffn == model->ffn && m.gated == model->gated &&
		    fabs(m.vocab - model->vocab) <= 256.0 && m.moe.n_experts == model->moe.n_experts &&
		    m.moe.expert_ffn == model->moe.expert_ffn && m.moe.top_k == model->moe.top_k &&
		    (!name || strlen(cat->models[i].id) < strlen(name)))
			name = cat->models[i].id;
	}
	return name;
}

/* False for runs that predict has no options for: special kernels and heads, 4-bit products, uneven sharding. */
static bool is_askable(const struct jl_llm_row *row, const char *name)
{
	const struct jl_transformer *m = &row->model;
	const struct jl_plan *p = &row->plan;

	return row->framework != JL_FW_APEX && row->framework != JL_FW_GENERAL && !p->no_optimizer &&
	       !(row->fp8_gain > 1.0) && m->head == JL_HEAD_LM && (m->moe.n_experts <= 0.0 || name) &&
	       fmod(m->heads, p->tp) == 0.0 && p->dp * p->tp * p->pp * p->cp == row->n_gpus &&
	       fmod(p->dp * p->cp, p->ep) == 0.0;
}

void jl_llm_command(struct jl_buf *out, const struct jl_llm_row *row, bool tuned)
{
	const struct jl_transformer *m = &row->model;
	const char *code = row->codebase > 0 ? jl_codebases[row->codebase].id : NULL, *name = named(m);
	const bool usual = code && jl_codebases[row->codebase].framework == row->framework;

	if (!is_askable(row, name))
		return;
	if (name)
		jl_buf_printf(out, "jeoul predict %s", name);
	else
		jl_buf_printf(out,
			      "jeoul predict --layers %.0f --hidden %.0f --heads %.0f --kv-heads %.0f --ffn %.0f "
			      "--vocab %.0f",
			      m->n_layers, m->hidden, m->heads, m->kv_heads, m->ffn, m->vocab);
	put_system(out, row);
	jl_buf_printf(out, " --micro-batch %.4g --global-batch %.0f --seq %.0f --precision %s", row->shard.micro_batch,
		      row->global_batch, row->shard.seq, jl_dtype_name(row->shard.dtype));
	jl_buf_printf(out, " --framework %s --recompute %s", usual ? code : jl_framework_word(row->framework),
		      recomputes[row->plan.recompute]);
	if (!row->shard.flash)
		jl_buf_puts(out, " --flash no");
	if (row->plan.weight_B == 2.0 && row->plan.grad_B <= 2.0 && row->plan.optimizer_B == 4.0)
		jl_buf_puts(out, " --states bf16");
	if (row->n_gpus > 1)
		put_plan(out, &row->plan);
	if (tuned || jl_tune_frozen(&row->shard.tune))
		put_tune(out, &row->shard.tune);
	if (row->mean_seq > 0.0)
		jl_buf_printf(out, " --mean-seq %.0f%s", row->mean_seq,
			      row->run_seq >= row->shard.seq ? " --packing yes" : "");
}
