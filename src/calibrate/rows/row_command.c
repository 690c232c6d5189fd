/* A published training run as the command that a user types: what the row states, and nothing that the program chooses by itself. */
#include "rows/set_llm.h"

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

static void put_plan(struct jl_buf *out, const struct jl_plan *plan)
{
	const struct {
		const char *key;
		double degree;
	} degrees[] = { { "tp", plan->tp }, { "pp", plan->pp }, { "vpp", plan->n_chunks },
			{ "cp", plan->cp }, { "ep", plan->ep }, { "zero", plan->zero } };
	const char *before = " --parallel ";

	for (size_t i = 0; i < JL_LEN(degrees); i++) {
		if (!(degrees[i].degree > (i + 1 < JL_LEN(degrees) ? 1.0 : 0.0)))
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

void jl_llm_command(struct jl_buf *out, const struct jl_llm_row *row, bool tuned)
{
	const struct jl_transformer *m = &row->model;
	const char *code = row->codebase > 0 ? jl_codebases[row->codebase].id : NULL;
	const bool usual = code && jl_codebases[row->codebase].framework == row->framework;

	jl_buf_printf(out,
		      "jeoul predict --layers %.0f --hidden %.0f --heads %.0f --kv-heads %.0f --ffn %.0f --vocab %.0f",
		      m->n_layers, m->hidden, m->heads, m->kv_heads, m->ffn, m->vocab);
	put_system(out, row);
	jl_buf_printf(out, " --micro-batch %.4g --global-batch %.0f --seq %.0f --precision %s", row->shard.micro_batch,
		      row->global_batch, row->shard.seq, jl_dtype_name(row->shard.dtype));
	jl_buf_printf(out, " --framework %s --recompute %s", usual ? code : jl_framework_word(row->framework),
		      recomputes[row->plan.recompute]);
	if (!row->shard.flash)
		jl_buf_puts(out, " --flash no");
	put_plan(out, &row->plan);
	if (tuned)
		put_tune(out, &row->shard.tune);
}
