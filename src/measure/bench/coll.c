/* The measuring backends shm, tcp and mpi: collectives through a communicator. */
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/backend.h"
#include "bench/pattern.h"

struct jl_bench_state {
	struct jl_bench_task task;
	struct jl_comm *comm;
	struct jl_pattern pattern;
	size_t buffer_B;
	char *memory[2], *buffers[2]; /* buffers start at an offset in their memory */
	struct jl_coll_call call;
	double clock_s; /* time to read the clock: up to 10 % of the smallest all-reduce */
};

static bool supports(const struct jl_bench_task *task)
{
	return task->kind == JL_BENCH_COLL && task->coll < JL_COLL_BARRIER && task->comm &&
	       task->size_B >= jl_comm_type_B(task->type);
}

static bool runs_on(const struct jl_bench_task *task, const char *name)
{
	return supports(task) && strcmp(task->comm->backend->name, name) == 0;
}

static bool shm_supports(const struct jl_bench_task *task)
{
	return runs_on(task, "shm") || runs_on(task, "self");
}

static bool tcp_supports(const struct jl_bench_task *task)
{
	return runs_on(task, "tcp");
}

static bool mpi_supports(const struct jl_bench_task *task)
{
	return runs_on(task, "mpi");
}

static size_t place_B(const struct jl_bench_task *task)
{
	return (task->in_place ? 1 : 2) * jl_pattern_size_B(task, task->comm->n_ranks);
}

static void finish(struct jl_bench_state *s)
{
	if (!s)
		return;
	for (int i = 0; i < 2; i++)
		jl_comm_free(s->comm, s->memory[i], s->buffer_B + JL_BENCH_SHIFT_B);
	jl_free(s);
}

/* Agrees on whether all ranks got their memory: if one rank failed alone, the others would wait for it. */
static enum jl_status all_have(struct jl_comm *comm, bool mine, struct jl_err *err)
{
	double all = mine;

	JL_TRY(jl_comm_agree(comm, &all, 1, JL_RED_MIN, err));
	return all > 0 ? JL_OK
		       : jl_fail(err, JL_E_NOMEM, "not enough memory for messages of this size; choose a smaller -e");
}

static double clock_cost_s(void)
{
	double least_s = 1;

	for (int i = 0; i < 1000; i++) {
		const double from_s = jl_clock_s(), took_s = jl_clock_s() - from_s;

		least_s = took_s < least_s ? took_s : least_s;
	}
	return least_s;
}

static enum jl_status prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state, struct jl_err *err)
{
	struct jl_bench_state *s = jl_realloc(NULL, sizeof(*s));

	JL_TRY(jl_got(s, err));
	*s = (struct jl_bench_state){ .task = *task, .comm = task->comm };
	s->pattern = (struct jl_pattern){ .task = &s->task,
					  .rank = task->comm->rank,
					  .n_ranks = task->comm->n_ranks,
					  .count = jl_pattern_count(task, task->comm->n_ranks) };
	s->buffer_B = jl_pattern_size_B(task, task->comm->n_ranks);
	for (int i = 0; i < (task->in_place ? 1 : 2); i++) {
		s->memory[i] = jl_comm_alloc(s->comm, s->buffer_B + JL_BENCH_SHIFT_B);
		if (s->memory[i])
			s->buffers[i] = s->memory[i] + jl_bench_shift_B(task, 2 * s->comm->rank + i);
	}
	enum jl_status status = all_have(s->comm, s->buffers[0] && (task->in_place || s->buffers[1]), err);
	if (status) {
		finish(s);
		return status;
	}
	s->call = jl_pattern_call(task, s->comm->rank, s->comm->n_ranks, s->buffers[0], s->buffers[1]);
	if (s->buffers[1])
		memset(s->buffers[1], 0, s->buffer_B); /* maps the pages before timing */
	jl_pattern_fill(&s->pattern, (void *)(uintptr_t)s->call.send);
	s->clock_s = clock_cost_s();
	status = jl_comm_run(s->comm, &s->call, err);
	if (status)
		finish(s);
	else
		*ret_state = s;
	return status;
}

static enum jl_status run_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	enum jl_status status = jl_comm_barrier(s->comm, err);
	const double start_s = jl_clock_s();

	/* skips jl_comm_run's checks: `prepare` has made them, and no other call is in flight */
	JL_THEN(status, s->comm->backend->run(s->comm, &s->call, err));
	double took_s = jl_clock_s() - start_s;
	if (!status)
		*ret_s = took_s > 2 * s->clock_s ? took_s - s->clock_s : took_s;
	return status;
}

static enum jl_status verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	if (s->buffers[1])
		memset(s->buffers[1], 0xa5, s->buffer_B); /* elements that are not written must fail the check */
	else if (jl_coll_shapes[s->task.coll].gathers && !jl_coll_shapes[s->task.coll].deals)
		memset(s->buffers[0], 0xa5, s->buffer_B);
	jl_pattern_fill(&s->pattern, (void *)(uintptr_t)s->call.send);
	JL_TRY(jl_comm_barrier(s->comm, err));
	JL_TRY(jl_comm_run(s->comm, &s->call, err));
	*ret_n_wrong = jl_pattern_wrong(&s->pattern, s->call.recv);
	return JL_OK;
}

static enum jl_status always_present(struct jl_err *err)
{
	(void)err;
	return JL_OK;
}

/* The backends differ only in name, presence and supported tasks. */
#define BACKEND(NAME, TEXT, PRESENT)                                                                                   \
	const struct jl_bench_backend jl_bench_##NAME = {                                                              \
		.name = #NAME,                                                                                         \
		.en = (TEXT),                                                                                          \
		.present = (PRESENT),                                                                                  \
		.supports = NAME##_supports,                                                                           \
		.prepare = prepare,                                                                                    \
		.run_once = run_once,                                                                                  \
		.verify = verify,                                                                                      \
		.finish = finish,                                                                                      \
		.place_B = place_B,                                                                                    \
	}

BACKEND(shm, JL_N("collectives between processes of this host"), always_present);
BACKEND(tcp, JL_N("collectives between hosts, by --listen and --to"), always_present);
BACKEND(mpi, JL_N("collectives between hosts, started by mpirun or srun"), jl_comm_mpi_present);
