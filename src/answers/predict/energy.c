/* Power of a case: work and bytes of its operators over the step time, through the power model. */
#include <math.h>

#include "predict/kind.h"

static struct jl_doubt power_doubt(const struct jl_machine *machine, int n_assumed)
{
	struct jl_doubt doubt = { .x = { [JL_DOUBT_ASSUMED] = sqrt(n_assumed) } };

	jl_machine_doubt(&doubt, machine, JL_ASKED_POWER, (struct jl_axes){ .kind = NULL });
	return doubt;
}

double jl_power_ask_W(const struct jl_device *dev, const struct jl_power_fit *fit, const struct jl_power_ask *ask)
{
	const double one_W = isnan(ask->activity_frac)
				     ? jl_power_W(dev, fit, &ask->work)
				     : jl_power_active_W(dev, fit, ask->activity_frac, ask->work.limit_W);

	return ask->n_gpus * one_W + ask->host_W;
}

struct jl_power_answer jl_power_of(const struct jl_machine *machine, const struct jl_power_ask *ask)
{
	const struct jl_doubt doubt = power_doubt(machine, ask->n_assumed);

	return (struct jl_power_answer){ .power_W = jl_power_ask_W(&machine->dev, &machine->power, ask),
					 .half_ln = jl_half_ln(&machine->widths, JL_ASKED_POWER, &doubt),
					 .doubt = doubt };
}

double jl_power_half_ln(const struct jl_machine *machine, double power_W)
{
	const struct jl_doubt doubt = power_doubt(machine, 0);
	const double host_W = jl_machine_host_W(machine, jl_sys_n_devices(&machine->sys));
	const double host = host_W > 0 && power_W > 0 ? host_W / power_W * machine->host.power_half_ln : 0;

	return hypot(jl_half_ln(&machine->widths, JL_ASKED_POWER, &doubt), host);
}

struct jl_estimate jl_energy_of(struct jl_estimate time_s, double power_W, double power_half_ln)
{
	const double value = time_s.value * power_W;

	return (struct jl_estimate){ .value = value,
				     .lo = value * exp(-hypot(log(time_s.value / time_s.lo), power_half_ln)),
				     .hi = value * exp(hypot(log(time_s.hi / time_s.value), power_half_ln)) };
}

double jl_case_power_W(const struct jl_case *c, const struct jl_step_cost *step)
{
	const struct jl_case_work w = c->subject.kind->work(c);
	struct jl_power_ask ask = {
		.work = { .moved_Bps = w.moved_B / step->step_s,
			  .flopps = w.flop / step->step_s *
				    (c->shard.dtype == JL_FP8 ? 0.5 : 1), /* the power model counts fp8 at half */
			  .vector = c->shard.dtype == JL_FP32,
			  .routed = c->subject.model.moe.n_experts > 0,
			  .limit_W = NAN },
		.activity_frac = NAN,
		.n_gpus = c->n_gpus,
		.host_W = jl_machine_host_W(&c->machine, c->n_gpus),
	};

	/* CPUs under load run at their power limit */
	if (!c->machine.sys.gpu)
		return c->machine.dev.tdp_W * c->n_gpus + ask.host_W;
	return jl_power_of(&c->machine, &ask).power_W;
}
