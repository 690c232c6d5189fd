/* Runs the configurations one after another, in processes on this host or in the ranks of an MPI launcher. */
#include "train/run.h"

#include <math.h>

#include "base/mem.h"
#include "train/worker.h"

struct team_ctx {
	struct jl_train_job job;
	const struct jl_train_run *run;
};

static enum jl_status team_work(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	return jl_train_work(&((struct team_ctx *)ctx)->job, comm, shared, err);
}

static bool team_tick(void *shared, void *ctx)
{
	const struct team_ctx *t = ctx;
	struct jl_train_shared *s = shared;
	return !t->run->tick || t->run->tick(t->run->ctx, &t->job.config, atomic_load(&s->n_steps));
}

static bool take_result(const struct team_ctx *t, struct jl_train_result *result, const struct jl_train_shared *shared,
			enum jl_status status, int dead, const struct jl_err *err)
{
	const struct jl_train_run *run = t->run;
	if (status == JL_OK) {
		*result = shared->result;
		result->noise.why = result->noise.noisy ? result->noise_why : NULL;
		if (run->no_rates || !run->here || jl_train_predict(&result->predicted_s, run, result, NULL))
			result->predicted_s = (struct jl_estimate){ NAN, NAN, NAN };
	} else {
		*result = (struct jl_train_result){
			.config = t->job.config, .status = status, .dead_rank = dead, .err = *err
		};
	}
	return run->done(run->ctx, result);
}

static bool run_team(struct team_ctx *t, struct jl_train_result *result)
{
	struct jl_err err = { 0 };
	void *shared = NULL;
	int dead = -1;
	struct jl_comm_team team = { .n_ranks = t->job.config.n_workers,
				     .work = team_work,
				     .ctx = t,
				     .shared_B = sizeof(struct jl_train_shared),
				     .tick = team_tick };
	enum jl_status status = jl_comm_team_run(&team, &shared, &dead, &err);
	bool more = take_result(t, result, shared, status, dead, &err);
	if (shared)
		jl_comm_team_release(&team, shared);
	return more;
}

/* Runs one configuration on all ranks, or on rank 0 alone while the others wait. All ranks learn whether to continue. */
static enum jl_status run_mpi(struct team_ctx *t, struct jl_comm *mpi, struct jl_train_shared *shared,
			      struct jl_train_result *result, bool *ret_more, struct jl_err *err)
{
	struct jl_err why = { 0 };
	enum jl_status status = JL_OK;
	bool alone = t->job.config.n_workers == 1 && mpi->n_ranks > 1;
	int more = 1;
	*shared = (struct jl_train_shared){ 0 };
	if (!alone || mpi->rank == 0)
		status = jl_train_work(&t->job, alone ? NULL : mpi, shared, &why);
	if (mpi->rank == 0)
		more = take_result(t, result, shared, status, -1, &why);
	status = jl_comm_tell(mpi, &more, sizeof more, err);
	*ret_more = more != 0;
	return status;
}

static enum jl_status check(const struct jl_train_run *run, struct jl_tokens *ret_tokens, struct jl_err *err)
{
	struct jl_train_shape shape;
	JL_TRY(jl_train_shape(run->model, 1, &shape, err));
	if (shape.n_positions && run->seq > shape.n_positions)
		JL_TRY(jl_fail(err, JL_E_RANGE, "--seq %zu: %s has %zu positions", run->seq, run->model->id,
			       shape.n_positions));
	JL_TRY(jl_trainer_check_images(&(struct jl_trainer_in){ .shape = &shape, .seq = run->seq }, run->precision,
				       err));
	if (shape.patches && run->tokens)
		JL_TRY(jl_fail(err, JL_E_USAGE, "--tokens: %s takes images", run->model->id));
	JL_TRY(run->kernels->present(err));
	if (!run->kernels->supports_head_dim(shape.head_dim))
		JL_TRY(jl_fail(err, JL_E_RANGE, "%s has heads of %zu; the %s engine has no attention for them",
			       run->model->id, shape.head_dim, run->kernels->name));
	return jl_tokens_open(ret_tokens, run->tokens, shape.vocab, shape.patches ? shape.patches : run->seq, err);
}

enum jl_status jl_train_run(const struct jl_train_run *run, struct jl_comm *mpi, struct jl_err *err)
{
	struct jl_tokens tokens = { 0 };
	enum jl_status status = JL_OK;
	JL_TRY(check(run, &tokens, err));
	struct jl_train_result *result = jl_realloc(NULL, sizeof *result);
	struct jl_train_shared *shared = jl_realloc(NULL, sizeof *shared);
	bool more = true;
	if (!result || !shared)
		status = jl_fail_nomem(err);
	for (size_t i = 0; status == JL_OK && more && i < run->n_configs; i++) {
		struct team_ctx t = { .job = { .run = run, .config = run->configs[i], .tokens = &tokens }, .run = run };
		if (mpi)
			status = run_mpi(&t, mpi, shared, result, &more, err);
		else
			more = run_team(&t, result);
	}
	jl_free(result);
	jl_free(shared);
	jl_tokens_close(&tokens);
	return status;
}
