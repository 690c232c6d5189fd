/* List of sets, and recognition of a file's set. */
#include <string.h>

#include "rows/set_rows.h"

const struct jl_set_ops *const jl_sets[] = {
	&jl_gemm_ops,
	&jl_collectives_ops,
	&jl_llm_ops,
	&jl_large_ops,
	&jl_tune_ops,
	&jl_other_ops,
	&jl_runs_ops,
	&jl_power_ops,
	&jl_served_ops[0],
	&jl_served_ops[1],
	&jl_served_ops[2],
	&jl_served_ops[3],
	&jl_served_ops[4],
	&jl_served_ops[5],
	&jl_serve_ops,
	&jl_load_ops,  /* versions and backends relative to current engines */
	&jl_infer_ops, /* rows of serving engines use the previous set's parameters */
	NULL,
};

const struct jl_set_ops *jl_set_by_name(const char *name)
{
	for (const struct jl_set_ops *const *ops = jl_sets; *ops; ops++) {
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
		if ((*ops)->memory_baselines[0] &&
		    strcmp(name, (*ops)->memory_line ? (*ops)->memory_line : "memory") == 0)
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
