/* How far off the predicted step of a row may be. */
#include "belief/set_llm.h"
#include "physics/interval.h"

double jl_llm_interval_ln(const struct jl_llm_row *row, double host_frac)
{
	return jl_train_half_ln(&(struct jl_train_doubt){
		.framework = row->framework,
		.n_gpus = row->n_gpus,
		.n_nodes = row->n_nodes,
		.device_seen = row->gpu.index >= 0,
		.assumed = row->assumed,
		.host_frac = host_frac,
	});
}
