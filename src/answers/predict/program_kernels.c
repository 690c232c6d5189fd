/* The kinds of calls of a captured program, by what they take of the device. */
#include <stdlib.h>

#include "predict/kernels.h"
#include "predict/program_case.h"

static int by_time(const void *a, const void *b)
{
	const struct jl_kernel *x = a, *y = b;

	return (x->device_s < y->device_s) - (x->device_s > y->device_s);
}

static enum jl_op_kind kind_of(enum jl_work_form form)
{
	return form == JL_WORK_PRODUCT || form == JL_WORK_CONV || form == JL_WORK_RECURRENT ? JL_OP_GEMM
	       : form == JL_WORK_ATTENTION                                                  ? JL_OP_ATTENTION
											    : JL_OP_STREAM;
}

enum jl_status jl_captured_kernels(struct jl_kernels *ret_kernels, const struct jl_case *c, struct jl_arena *arena,
				   struct jl_err *err)
{
	const struct jl_captured *captured = c->subject.program;
	const size_t n = captured->p.n_kinds;
	struct jl_call_cost *costs = jl_arena_array(arena, n, sizeof(*costs));
	struct jl_kernels all = { .items = jl_arena_array(arena, n, sizeof(*all.items)) };

	JL_TRY(jl_got(costs && all.items, err));
	const double ratio = jl_captured_price(captured, c, costs);

	for (size_t k = 0; k < n; k++) {
		const enum jl_work_form form = captured->works[k].form;
		double times = 0;

		for (int phase = 0; phase < JL_N_PHASE; phase++)
			times += captured->p.uses[k].n[phase];
		if (form == JL_WORK_NONE || times == 0)
			continue;
		const struct jl_kernel item = { .block = jl_class_names[costs[k].class],
						.name = jl_captured_kind_text(captured, k, arena),
						.kind = kind_of(form),
						.id = (int)k + 1,
						.n_times = times,
						.launches = times * costs[k].n_kernels,
						.moved_B = times * costs[k].moved_B,
						.traffic_B = times * costs[k].moved_B,
						.flop = times * costs[k].flop,
						.device_s = times * costs[k].device_s * ratio };

		all.items[all.n++] = item;
		all.launches += item.launches;
		all.device_s += item.device_s;
		all.stream_B += form == JL_WORK_STREAM ? item.moved_B : 0;
	}
	qsort(all.items, all.n, sizeof(*all.items), by_time);
	*ret_kernels = all;
	return JL_OK;
}
