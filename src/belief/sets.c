/* The list of sets, and how a file is recognised. */
#include <string.h>

#include "belief/set.h"
#include "belief/set_ops.h"

/* Known, and not asked of the model yet: their rows are counted and said to be unscored, never silently left out. */
static const char *const infer_files[] = { "infer_llm", NULL };
static const char *const infer_columns[] = { "engine", "tokens_per_s_kind", "primary_metric", "primary_value", "gpu",
					     NULL };
static const struct jl_set_ops infer_ops = {
	.name = "infer_llm",
	.files = infer_files,
	.unit = "s",
	.columns = infer_columns,
	.no_model = "no model yet",
	.no_model_ko = "아직 모델이 없음",
};
static const char *const serve_files[] = { "serve_silicon", NULL };
static const char *const serve_columns[] = { "backend", "system", "silicon_ttft_ms", "silicon_tpot_ms", NULL };
static const struct jl_set_ops serve_ops = {
	.name = "serve_silicon",
	.files = serve_files,
	.unit = "s",
	.columns = serve_columns,
	.no_model = "no model yet",
	.no_model_ko = "아직 모델이 없음",
};

const struct jl_set_ops *const jl_sets[] = {
	&jl_gemm_ops, &jl_collectives_ops, &jl_llm_ops, &jl_other_ops, &jl_power_ops, &infer_ops, &serve_ops, NULL,
};

const struct jl_set_ops *jl_set_by_name(const char *name)
{
	for (const struct jl_set_ops *const *ops = jl_sets; *ops; ops++) {
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
		if ((*ops)->memory_baselines[0] && strcmp(name, "memory") == 0)
			return *ops;
		for (const char *const *file = (*ops)->files; *file; file++)
			if (strcmp(*file, name) == 0)
				return *ops;
	}
	return NULL;
}

const struct jl_set_ops *jl_set_by_columns(const struct jl_csv *csv)
{
	const struct jl_set_ops *best = NULL;
	size_t best_n = 0;

	for (const struct jl_set_ops *const *ops = jl_sets; *ops; ops++) {
		size_t n = 0;

		while ((*ops)->columns[n] && jl_csv_find(csv, (*ops)->columns[n]) != JL_CSV_NO_COLUMN)
			n++;
		if (!(*ops)->columns[n] && n > best_n) {
			best = *ops;
			best_n = n;
		}
	}
	return best;
}

struct params_of {
	const struct jl_set_ops *ops;
	const struct jl_set_data *data;
};

static void param_at(const void *ctx, size_t i, struct jl_param *ret_param)
{
	const struct params_of *of = ctx;

	of->ops->param(of->data, i, ret_param);
}

void jl_set_shipped(const struct jl_set_ops *ops, const struct jl_set_data *data, const struct jl_catalog *cat,
		    double *ret_x)
{
	const struct params_of of = { .ops = ops, .data = data };

	jl_params_read(cat, &(struct jl_param_list){ .n = ops->n_param(data), .at = param_at, .ctx = &of }, ret_x);
}

void jl_set_priors(const struct jl_set_ops *ops, const struct jl_set_data *data, double *ret_x)
{
	const struct params_of of = { .ops = ops, .data = data };

	jl_params_start(&(struct jl_param_list){ .n = ops->n_param(data), .at = param_at, .ctx = &of }, ret_x);
}
