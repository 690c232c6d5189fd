#include "serve/passes.h"

#include "serve/serve.h"

enum jl_status jl_passes_predict(struct jl_estimate *ret_prompts_s, struct jl_estimate *ret_token_s,
				 const struct jl_machine *machine, const struct jl_passes_ask *ask, struct jl_err *err)
{
	struct jl_serve_fit fit = jl_serve_shipped(machine->cat, machine->served.arch, JL_ENGINE_GENERAL);
	const struct jl_op_fit ops = jl_op_shipped(machine->cat, machine->served.arch, JL_ENGINE_GENERAL);
	struct jl_serve_run run = { .model = jl_served_from_catalog(ask->model),
				    .ops = &ops,
				    .place = { .n_gpus = 1, .n_stages = 1 },
				    .n_requests = ask->n_requests,
				    .prompt = ask->prompt,
				    .context = ask->prompt + ask->answer / 2 };

	JL_TRY(jl_served_format(&run.format, ask->elem_B > 2 ? "fp32" : ask->weight_B < 2 ? "fp8" : "bf16", err));
	run.format.weight_B = ask->weight_B;
	run.format.kv_B = ask->elem_B;
	/* without launch, scheduling, sampling and text costs */
	fit.host_layer_s = fit.step_s = fit.seq_s = fit.token_s = 0;
	for (int i = 0; i < 2; i++) {
		run.metric = i ? JL_METRIC_DECODE : JL_METRIC_PREFILL;
		const struct jl_serve_time t = jl_serve_of(machine, &fit, &run, NULL);

		*(i ? ret_token_s : ret_prompts_s) = jl_estimate_around(t.time_s, t.half_ln);
	}
	return JL_OK;
}
