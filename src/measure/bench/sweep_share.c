/* Receives a sweep from rank 0 and checks each number before starting. */
#include <math.h>

#include "base/meminfo.h"
#include "bench/sweep.h"

/* Bounds of each number; all except the time are integers. */
static const struct {
	const char *name;
	double least, most;
} limits[] = {
	[JL_SWEEP_TYPE] = { "type", 0, JL_N_COMM_TYPE - 1 },
	[JL_SWEEP_OP] = { "op", 0, JL_N_REDOP - 1 },
	[JL_SWEEP_ROOT] = { "root", 0, JL_COMM_TCP_RANKS_MAX - 1 },
	[JL_SWEEP_ITERS] = { "iters", 0, JL_BENCH_SAMPLES_MAX },
	[JL_SWEEP_WARMUP] = { "warmup", 0, JL_SWEEP_WARMUP_MAX },
	[JL_SWEEP_CHECK] = { "check", 0, 1 },
	[JL_SWEEP_TIME_S] = { "time", 0, 86400 },
	[JL_SWEEP_SIZES] = { "sizes", 1, JL_SWEEP_ROWS_MAX },
};

static enum jl_status odd(const char *what, double value, struct jl_err *err)
{
	return jl_fail(err, JL_E_DATA, "rank 0 asks for %s %g, which makes no sense: nothing was measured", what,
		       value);
}

/* Checks that two message buffers fit into half of the free memory; a larger request is a mistake or hostile. */
static enum jl_status fits(double size_B, double free_B, struct jl_err *err)
{
	if (!(2 * size_B > 0.5 * free_B))
		return JL_OK;
	return jl_fail(err, JL_E_LIMIT,
		       "rank 0 asks for messages of %.3g GB; this host has %.3g GB free: choose a smaller -e there",
		       1e-9 * size_B, 1e-9 * free_B);
}

enum jl_status jl_sweep_take(struct jl_sweep *sweep, const double numbers[JL_SWEEP_NUMBERS], int n_ranks, double free_B,
			     struct jl_err *err)
{
	struct jl_bench_task task = sweep->task;
	enum jl_status status = JL_OK;

	for (size_t i = 0; i < JL_LEN(limits); i++)
		if (!(numbers[i] >= limits[i].least && numbers[i] <= limits[i].most) ||
		    (i != JL_SWEEP_TIME_S && numbers[i] != floor(numbers[i])))
			return odd(limits[i].name, numbers[i], err);
	if (numbers[JL_SWEEP_ROOT] >= n_ranks)
		return odd("root", numbers[JL_SWEEP_ROOT], err);
	task.type = (enum jl_comm_type)numbers[JL_SWEEP_TYPE];
	task.op = (enum jl_redop)numbers[JL_SWEEP_OP];
	task.root = (int)numbers[JL_SWEEP_ROOT];
	for (size_t i = 0; i < (size_t)numbers[JL_SWEEP_SIZES] && !status; i++) {
		const double size_B = numbers[JL_N_SWEEP_NUMBER + i];

		if (!(size_B >= (double)jl_comm_type_B(task.type) && size_B <= JL_SWEEP_SIZE_MAX_B) ||
		    size_B != floor(size_B))
			return odd("size", size_B, err);
		status = fits(size_B, free_B, err);
	}
	if (status)
		return status;
	sweep->task = task;
	sweep->plan.n_iters = (size_t)numbers[JL_SWEEP_ITERS];
	sweep->plan.n_warmup = (size_t)numbers[JL_SWEEP_WARMUP];
	sweep->plan.check = numbers[JL_SWEEP_CHECK] > 0;
	sweep->plan.time_s = numbers[JL_SWEEP_TIME_S];
	sweep->n_sizes = (size_t)numbers[JL_SWEEP_SIZES];
	for (size_t i = 0; i < sweep->n_sizes; i++)
		sweep->sizes_B[i] = (size_t)numbers[JL_N_SWEEP_NUMBER + i];
	return JL_OK;
}

enum jl_status jl_sweep_share(struct jl_sweep *sweep, struct jl_comm *comm, struct jl_err *err)
{
	double numbers[JL_SWEEP_NUMBERS] = { [JL_SWEEP_TYPE] = sweep->task.type,
					     [JL_SWEEP_OP] = sweep->task.op,
					     [JL_SWEEP_ROOT] = sweep->task.root,
					     [JL_SWEEP_ITERS] = (double)sweep->plan.n_iters,
					     [JL_SWEEP_WARMUP] = (double)sweep->plan.n_warmup,
					     [JL_SWEEP_CHECK] = sweep->plan.check,
					     [JL_SWEEP_TIME_S] = sweep->plan.time_s,
					     [JL_SWEEP_SIZES] = (double)sweep->n_sizes };

	for (size_t i = 0; i < sweep->n_sizes; i++)
		numbers[JL_N_SWEEP_NUMBER + i] = (double)sweep->sizes_B[i];
	enum jl_status status = jl_comm_tell(comm, numbers, JL_SWEEP_NUMBERS * sizeof(*numbers), err);
	if (status || comm->rank == 0)
		return status;
	return jl_sweep_take(sweep, numbers, comm->n_ranks, jl_mem_available_B(), err);
}
