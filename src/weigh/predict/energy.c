/* What a case draws: work and bytes of its operators over the time of a step, through the power model. */
#include <math.h>

#include "model/power.h"
#include "predict/kind.h"

double jl_case_power_W(const struct jl_case *c, const struct jl_step_cost *step)
{
	const struct jl_case_work w = c->subject.kind->work(c);
	const double device_W = jl_power_W(
		&c->machine.dev, &c->machine.power,
		&(struct jl_power_in){
			.moved_Bps = w.moved_B / step->step_s,
			.flopps = w.flop / step->step_s *
				  (c->shard.dtype == JL_FP8 ? 0.5 : 1), /* counted as the power model counts fp8 */
			.vector = c->shard.dtype == JL_FP32,
			.routed = c->subject.model.moe.n_experts > 0,
			.limit_W = NAN,
		});
	const double host_W = isnan(c->machine.host_idle_W) ? 0 : c->machine.host_idle_W;
	/* A processor that works runs at its limit. */
	const double one_W = c->machine.sys.gpu ? device_W : c->machine.dev.tdp_W;

	return one_W * c->n_gpus + host_W * c->machine.sys.n_nodes;
}
