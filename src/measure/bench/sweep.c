/* Runs a collective over a range of sizes. */
#include "bench/sweep.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "bench/pattern.h"

/* Shared memory of a team's workers and its caller. */
struct board {
	_Atomic size_t n_rows;      /* finished rows */
	_Atomic double done;        /* finished measurements plus the fraction of the current one */
	struct jl_sweep_row rows[]; /* n_sizes rows, written by rank 0 */
};

struct desk { /* the caller's state */
	const struct jl_sweep *sweep;
	size_t n_shown;
};

enum jl_status jl_sweep_sizes(struct jl_sweep *sweep, size_t min_B, size_t max_B, double factor, size_t step_B,
			      struct jl_err *err)
{
	size_t size_B = min_B;

	sweep->n_sizes = 0;
	for (;;) {
		double next = factor > 1 ? (double)size_B * factor : (double)size_B + (double)step_B;

		if (sweep->n_sizes == JL_SWEEP_ROWS_MAX)
			return jl_fail(err, JL_E_LIMIT, "more than %d sizes between -b and -e; take a factor: -f 2",
				       JL_SWEEP_ROWS_MAX);
		sweep->sizes_B[sweep->n_sizes++] = size_B;
		if (!(next <= (double)max_B) || (size_t)next <= size_B)
			break;
		size_B = (size_t)next;
	}
	return JL_OK;
}

/* --- one row, on all ranks */

static void part_done(void *ctx, double frac)
{
	struct board *board = ctx;
	const double whole = (double)(long)atomic_load(&board->done);

	atomic_store(&board->done, whole + (frac < 1 ? frac : 0.999));
}

static enum jl_status one_row(const struct jl_sweep *sweep, struct jl_comm *comm, const struct jl_bench_plan *plan,
			      struct board *board, struct jl_sweep_row *row, size_t i, struct jl_err *err)
{
	struct jl_bench_task task = sweep->task;
	enum jl_status status = JL_OK;

	task.kind = JL_BENCH_COLL;
	task.size_B = sweep->sizes_B[i];
	task.comm = comm;
	task.n_gpus = comm ? 0 : sweep->n_ranks;
	memset(row, 0, sizeof(*row));
	row->size_B = jl_pattern_size_B(&task, comm ? comm->n_ranks : sweep->n_ranks);
	row->count = jl_pattern_count(&task, comm ? comm->n_ranks : sweep->n_ranks);
	for (int in_place = 0; in_place < 2 && !status; in_place++) {
		struct jl_bench_result *result = in_place ? &row->in : &row->out;

		task.in_place = in_place;
		if (!sweep->backend->supports(&task) && in_place)
			break; /* NCCL has no in-place alltoall */
		status = jl_bench_measure(sweep->backend, &task, plan, result, err);
		result->task.size_B = row->size_B;
		result->n_ranks = comm ? comm->n_ranks : sweep->n_ranks;
		if (status || result->n_samples == 0)
			break;
		if (in_place)
			row->has_in = true;
		else
			row->has_out = true;
		if (board)
			atomic_store(&board->done, (double)(2 * i + (size_t)in_place + 1));
		if (result->stopped)
			break;
	}
	return status;
}

enum jl_status jl_sweep_run(const struct jl_sweep *sweep, struct jl_comm *comm, struct jl_err *err)
{
	struct jl_sweep_row *row = jl_realloc(NULL, sizeof(*row));
	const bool prints = !comm || comm->rank == 0;
	enum jl_status status = JL_OK;

	JL_TRY(jl_got(row, err));
	for (size_t i = 0; i < sweep->n_sizes && !status; i++) {
		status = one_row(sweep, comm, &sweep->plan, NULL, row, i, err);
		if (prints && sweep->row && row->has_out)
			sweep->row(sweep->ctx, row);
		if (row->out.stopped || row->in.stopped)
			break;
	}
	jl_free(row);
	return status;
}

/* --- shm */

struct worker {
	const struct jl_sweep *sweep;
	struct desk desk;
};

/* Pins each rank to its own CPU, as mpirun does: two ranks on one core would measure the scheduler. */
static void settle(const struct jl_comm *comm)
{
	cpu_set_t all, one;
	int left = comm->rank;

	if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < comm->n_ranks)
		return;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || left-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static enum jl_status work(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	const struct jl_sweep *sweep = ((const struct worker *)ctx)->sweep;
	struct board *board = shared;
	struct jl_bench_plan plan = sweep->plan;
	struct jl_sweep_row *own = jl_realloc(NULL, sizeof(*own));
	enum jl_status status = JL_OK;

	JL_TRY(jl_got(own, err));
	settle(comm);
	plan.stop = NULL; /* the caller handles it */
	plan.progress = comm->rank == 0 ? part_done : NULL;
	plan.ctx = board;
	for (size_t i = 0; i < sweep->n_sizes && !status; i++) {
		struct jl_sweep_row *row = comm->rank == 0 ? &board->rows[i] : own;

		status = one_row(sweep, comm, &plan, comm->rank == 0 ? board : NULL, row, i, err);
		if (!status && comm->rank == 0)
			atomic_store(&board->n_rows, i + 1);
		if (row->out.stopped || row->in.stopped)
			break;
	}
	jl_free(own);
	return status;
}

static bool tick(void *shared, void *ctx)
{
	struct desk *desk = &((struct worker *)ctx)->desk;
	const struct jl_sweep *sweep = desk->sweep;
	struct board *board = shared;

	for (; desk->n_shown < atomic_load(&board->n_rows); desk->n_shown++)
		if (sweep->row && board->rows[desk->n_shown].has_out)
			sweep->row(sweep->ctx, &board->rows[desk->n_shown]);
	if (sweep->plan.progress)
		sweep->plan.progress(sweep->plan.ctx, atomic_load(&board->done) / (2.0 * (double)sweep->n_sizes));
	return !(sweep->plan.stop && sweep->plan.stop(sweep->plan.ctx));
}

enum jl_status jl_sweep_shm(const struct jl_sweep *sweep, int *ret_dead, struct jl_err *err)
{
	struct worker worker = { .sweep = sweep, .desk = { .sweep = sweep } };
	const struct jl_comm_team team = { .n_ranks = sweep->n_ranks,
					   .work = work,
					   .ctx = &worker,
					   .shared_B = sizeof(struct board) +
						       sweep->n_sizes * sizeof(struct jl_sweep_row),
					   .tick = tick };
	void *shared;
	enum jl_status status = jl_comm_team_run(&team, &shared, ret_dead, err);

	struct board *board = shared;
	/* the row in which a rank died may have its out-of-place half */
	if (board && status && worker.desk.n_shown < sweep->n_sizes && sweep->row &&
	    board->rows[worker.desk.n_shown].has_out)
		sweep->row(sweep->ctx, &board->rows[worker.desk.n_shown]);
	jl_comm_team_release(&team, shared);
	return status;
}
