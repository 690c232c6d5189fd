/* Hosts that join by themselves take the sweep from rank 0. Whoever that is: nothing is begun with a figure that is not what it should be. */
#include <math.h>

#include "base/meminfo.h"
#include "bench/sweep.h"

/* Whole numbers but for the time. */
static const struct {
	const char *name;
	double least, most;
} limits[] = {
	[JL_TOLD_TYPE] = { "type", 0, JL_N_COMM_TYPE - 1 },
	[JL_TOLD_OP] = { "op", 0, JL_N_REDOP - 1 },
	[JL_TOLD_ROOT] = { "root", 0, JL_COMM_TCP_RANKS_MAX - 1 },
	[JL_TOLD_ITERS] = { "iters", 0, JL_BENCH_SAMPLES_MAX },
	[JL_TOLD_WARMUP] = { "warmup", 0, JL_SWEEP_WARMUP_MAX },
	[JL_TOLD_CHECK] = { "check", 0, 1 },
	[JL_TOLD_TIME_S] = { "time", 0, 86400 },
	[JL_TOLD_SIZES] = { "sizes", 1, JL_SWEEP_ROWS_MAX },
};

static enum jl_status odd(const char *what, double value, struct jl_err *err)
{
	return jl_fail(err, JL_E_DATA, "rank 0 asks for %s %g, which makes no sense: nothing was measured", what,
		       value);
}

/* Two buffers of a message, in half of what is free: a rank 0 that asks for more is wrong about this host, or hostile. */
static enum jl_status fits(double size_B, double free_B, struct jl_err *err)
{
	if (!(2 * size_B > 0.5 * free_B))
		return JL_OK;
	return jl_fail(err, JL_E_LIMIT,
		       "rank 0 asks for messages of %.3g GB; this host has %.3g GB free: choose a smaller -e there",
		       1e-9 * size_B, 1e-9 * free_B);
}

enum jl_status jl_sweep_take(struct jl_sweep *sweep, const double told[JL_SWEEP_TOLD], int n_ranks, double free_B,
			     struct jl_err *err)
{
	struct jl_bench_task task = sweep->task;
	enum jl_status status = JL_OK;

	for (size_t i = 0; i < JL_LEN(limits); i++)
		if (!(told[i] >= limits[i].least && told[i] <= limits[i].most) ||
		    (i != JL_TOLD_TIME_S && told[i] != floor(told[i])))
			return odd(limits[i].name, told[i], err);
	if (told[JL_TOLD_ROOT] >= n_ranks)
		return odd("root", told[JL_TOLD_ROOT], err);
	task.type = (enum jl_comm_type)told[JL_TOLD_TYPE];
	task.op = (enum jl_redop)told[JL_TOLD_OP];
	task.root = (int)told[JL_TOLD_ROOT];
	for (size_t i = 0; i < (size_t)told[JL_TOLD_SIZES] && !status; i++) {
		const double size_B = told[JL_N_TOLD + i];

		if (!(size_B >= (double)jl_comm_type_B(task.type) && size_B <= JL_SWEEP_SIZE_MAX_B) ||
		    size_B != floor(size_B))
			return odd("size", size_B, err);
		status = fits(size_B, free_B, err);
	}
	if (status)
		return status;
	sweep->task = task;
	sweep->plan.n_iters = (size_t)told[JL_TOLD_ITERS];
	sweep->plan.n_warmup = (size_t)told[JL_TOLD_WARMUP];
	sweep->plan.check = told[JL_TOLD_CHECK] > 0;
	sweep->plan.time_s = told[JL_TOLD_TIME_S];
	sweep->n_sizes = (size_t)told[JL_TOLD_SIZES];
	for (size_t i = 0; i < sweep->n_sizes; i++)
		sweep->sizes_B[i] = (size_t)told[JL_N_TOLD + i];
	return JL_OK;
}

enum jl_status jl_sweep_share(struct jl_sweep *sweep, struct jl_comm *comm, struct jl_err *err)
{
	double told[JL_SWEEP_TOLD] = { [JL_TOLD_TYPE] = sweep->task.type,
				       [JL_TOLD_OP] = sweep->task.op,
				       [JL_TOLD_ROOT] = sweep->task.root,
				       [JL_TOLD_ITERS] = (double)sweep->plan.n_iters,
				       [JL_TOLD_WARMUP] = (double)sweep->plan.n_warmup,
				       [JL_TOLD_CHECK] = sweep->plan.check,
				       [JL_TOLD_TIME_S] = sweep->plan.time_s,
				       [JL_TOLD_SIZES] = (double)sweep->n_sizes };

	for (size_t i = 0; i < sweep->n_sizes; i++)
		told[JL_N_TOLD + i] = (double)sweep->sizes_B[i];
	enum jl_status status = jl_comm_tell(comm, told, JL_SWEEP_TOLD * sizeof(*told), err);
	if (status || comm->rank == 0)
		return status;
	return jl_sweep_take(sweep, told, comm->n_ranks, jl_mem_available_B(), err);
}
