/* Input pipeline and host memory of a case. */
#include <math.h>

#include "predict/kind.h"

struct jl_input_time jl_case_input(const struct jl_case *c)
{
	return jl_input_time(&c->input, c->global_batch / c->machine.sys.n_nodes);
}

/* Images for networks that take them, otherwise preprocessed samples. */
void jl_case_choose_input(struct jl_case *c, const struct jl_catalog *cat, const struct jl_request *req)
{
	const double pixels = c->subject.kind->sample(&c->subject).pixels, elements = c->subject.kind->elements(c);
	const enum jl_input_kind kind = req->input != JL_UNSET ? (enum jl_input_kind)req->input
					: pixels > 0           ? JL_INPUT_IMAGES
							       : JL_INPUT_TOKENS;
	const struct jl_host *host = &c->machine.host;

	c->input = jl_input_of(cat, kind, pixels, elements);
	c->input.n_threads = jl_given_or(req->cpu_threads, host->n_threads);
	c->input.storage_Bps = req->storage_Bps;
	c->input.sample_B = jl_given_or(req->sample_B, c->input.sample_B);
	if (!isnan(req->sample_s)) {
		c->input.sample_s = req->sample_s;
		c->input.half_ln = JL_INPUT_GIVEN_HALF_LN;
	}
	c->ram_B = jl_given_or(req->ram_B, host->ram_B);
	if (kind != JL_INPUT_IMAGES && kind != JL_INPUT_IMAGES_GPU)
		return;
	if (req->input == JL_UNSET)
		jl_note_add(&c->notes, "input",
			    "JPEG images decoded by the CPU, %.2g ms a thread; --input synthetic leaves that out",
			    1e3 * c->input.sample_s);
	if (isnan(req->cpu_threads) && host->threads_assumed)
		jl_note_add(&c->notes, "cpu-threads", "%.0f CPU threads a host, assumed for {%s}", c->input.n_threads,
			    jl_host_class_name(host->kind));
	else if (isnan(req->cpu_threads))
		jl_note_add(&c->notes, "cpu-threads", "%.0f CPU threads a host", c->input.n_threads);
}

/* Pinned buffers of offloaded data: gradients are copied to the host and parameters to the device through them. */
double jl_case_host_B(const struct jl_case *c, const struct jl_train_blocks *blocks)
{
	const struct jl_plan *p = &c->plan;
	const unsigned offload = jl_case_offload(c);
	const double all = jl_stage_params(&blocks->size, p), kept = jl_stage_own_params(&blocks->size, p);
	const double own = p->zero >= 1 ? kept : all, held = p->zero == 3 ? kept : all;
	const double layers = (blocks->size.n_dense_layers + blocks->size.n_moe_layers) / p->pp;
	double device_B = 0;

	if (offload & JL_OFFLOAD_OPTIMIZER)
		device_B += own * p->trained_frac * ((offload & JL_OFFLOAD_NVME ? 0 : p->optimizer_B) + p->grad_B);
	if (offload & JL_OFFLOAD_PARAMS)
		device_B += held * (jl_plan_held_B(p) + p->trained_frac * p->grad_B);
	if (offload & JL_OFFLOAD_ACTIVATIONS)
		device_B += blocks->cost[JL_BLOCK_DENSE].saved_B * layers * fmin(p->n_micro, p->pp);
	return device_B * jl_sys_per_node(&c->machine.sys);
}

enum jl_room jl_case_room(const struct jl_case *c, const struct jl_case_price *w)
{
	const double capacity_B = c->machine.dev.mem_B;

	if (w->memory.total_B > capacity_B || w->host_B > JL_HOST_RAM_FRAC * c->ram_B)
		return JL_ROOM_NONE;
	return w->memory.total_B > JL_TIGHT_FRAC * capacity_B ? JL_ROOM_TIGHT : JL_ROOM_FITS;
}
