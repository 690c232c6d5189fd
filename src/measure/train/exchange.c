/* Communication of workers during a step: reduces a unit's gradients as soon as they are complete, gathers its parameters before it computes. */
#include "train/state.h"

#define GATHER_SLOT(unit) (JL_ENGINE_SLOTS / 2 + (int)(unit))
#define NORM_SLOT         (JL_ENGINE_SLOTS - 1)
#define TIED_BUFFER       2

bool jl_trainer_accumulates(const struct jl_trainer *t)
{
	return !t->first_micro && !jl_trainer_shards_grads(t); /* zero2 and zero3 accumulate shards instead */
}

void jl_trainer_begin_step(struct jl_trainer *t)
{
	t->n_uses = t->n_grads = 0;
	t->param_holds[0] = t->param_holds[1] = 0; /* the last update made gathered parameters stale */
}

static void start_gather(struct jl_trainer *t, size_t u, void *full)
{
	struct jl_unit *unit = &t->units[u];
	struct jl_coll_call call = { .coll = JL_COLL_ALLGATHER,
				     .type = t->engine->elem_type,
				     .count = unit->shard_n,
				     .send = unit->param_shard,
				     .recv = full };
	t->k->exchange_start(t->engine, t->in.comm, &call, GATHER_SLOT(u));
	unit->gathering = true;
}

static void finish_gather(struct jl_trainer *t, size_t u)
{
	if (t->units[u].gathering)
		t->k->exchange_finish(t->engine, t->in.comm, GATHER_SLOT(u));
	t->units[u].gathering = false;
}

static void gather_into(struct jl_trainer *t, size_t buffer, size_t u)
{
	if (t->param_holds[buffer] == u + 1)
		return;
	t->param_holds[buffer] = u + 1;
	start_gather(t, u, t->param_buffers[buffer]);
}

struct jl_unit *jl_trainer_use(struct jl_trainer *t, size_t u, long next_unit)
{
	struct jl_unit *unit = &t->units[u];
	if (t->mode == JL_TRAIN_ZERO3) {
		size_t buffer = t->n_uses++ % 2;
		gather_into(t, buffer, u); /* first unit of a step: its gather could not be started earlier */
		finish_gather(t, u);
		unit->param = t->param_buffers[buffer];
		if (next_unit >= 0)
			gather_into(t, t->n_uses % 2, (size_t)next_unit);
	} else {
		finish_gather(t, u);
	}
	return unit;
}

/* Zeroes the padding between a unit's tensors: a reused buffer may hold values of another kind of unit. */
static void zero_gaps(struct jl_trainer *t, size_t u, char *grad)
{
	const struct jl_train_shape *s = &t->shape;
	enum jl_unit_kind kind = jl_train_unit_kind(s, u);
	size_t used = 0, grad_B = t->engine->grad_B;
	for (int w = 0; w < JL_N_TENSOR; w++) {
		const struct jl_tensor_place *p = &s->weights[w];
		if (p->rows == 0 || p->unit != kind)
			continue;
		size_t end = p->at + p->rows * p->cols,
		       next = (end + JL_TRAIN_ALIGN - 1) / JL_TRAIN_ALIGN * JL_TRAIN_ALIGN;
		if (next > end)
			t->k->zero(t->engine, grad + end * grad_B, (next - end) * grad_B);
		used = next > used ? next : used;
	}
	if (t->units[u].n > used)
		t->k->zero(t->engine, grad + used * grad_B, (t->units[u].n - used) * grad_B);
}

/* Copies a reduced shard out of its temporary gradient buffer; the buffer is then free. */
static void settle(struct jl_trainer *t, size_t buffer)
{
	if (!t->grad_holds[buffer])
		return;
	size_t u = t->grad_holds[buffer] - 1, grad_B = t->engine->grad_B;
	struct jl_unit *unit = &t->units[u];
	t->k->exchange_finish(t->engine, t->in.comm, (int)u);
	unit->reducing = false;
	const char *reduced = unit->grad + unit->shard_at * grad_B;
	if (t->first_micro)
		t->k->copy(t->engine, unit->grad_shard, reduced, unit->shard_n * grad_B);
	else
		t->k->grad_add(t->engine, unit->grad_shard, reduced, unit->shard_n);
	unit->grad = NULL;
	t->grad_holds[buffer] = 0;
}

void jl_trainer_grad_begin(struct jl_trainer *t, size_t u)
{
	if (!jl_trainer_shards_grads(t))
		return;
	size_t buffer = t->shape.tied && u == 0 ? TIED_BUFFER : t->n_grads++ % 2;
	settle(t, buffer);
	t->units[u].grad = t->grad_buffers[buffer];
	t->grad_holds[buffer] = u + 1;
	zero_gaps(t, u, t->units[u].grad);
}

void jl_trainer_grad_done(struct jl_trainer *t, size_t u)
{
	struct jl_unit *unit = &t->units[u];
	if (t->n_ranks == 1 || (!jl_trainer_shards_grads(t) && !t->last_micro))
		return;
	struct jl_coll_call call = { .type = t->engine->grad_type, .op = JL_RED_SUM, .send = unit->grad };
	if (t->mode == JL_TRAIN_DDP) {
		call.coll = JL_COLL_ALLREDUCE;
		call.count = unit->n;
		call.recv = unit->grad;
	} else {
		call.coll = JL_COLL_REDUCESCATTER;
		call.count = unit->shard_n;
		call.recv = unit->grad + unit->shard_at * t->engine->grad_B;
	}
	t->k->exchange_start(t->engine, t->in.comm, &call, (int)u);
	unit->reducing = true;
}

void jl_trainer_end_micro(struct jl_trainer *t)
{
	for (size_t buffer = 0; buffer < JL_TRAIN_BUFFERS; buffer++)
		settle(t, buffer);
}

static void finish_reduce(struct jl_trainer *t, size_t u)
{
	if (t->units[u].reducing)
		t->k->exchange_finish(t->engine, t->in.comm, (int)u);
	t->units[u].reducing = false;
}

/* Clipping needs the norm of all gradients before the first update. */
static void global_norm(struct jl_trainer *t)
{
	for (size_t u = t->shape.n_units; u-- > 0;) {
		finish_reduce(t, u);
		t->k->grad_norm_sq(t->engine, t->norm_sq, t->units[u].grad_shard, t->units[u].shard_n,
				   u + 1 != t->shape.n_units);
	}
	if (t->mode == JL_TRAIN_DDP)
		return; /* ddp: each worker has all gradients */
	struct jl_coll_call call = { .coll = JL_COLL_ALLREDUCE,
				     .type = JL_COMM_FLOAT,
				     .op = JL_RED_SUM,
				     .count = 1,
				     .send = t->norm_sq,
				     .recv = t->norm_sq };
	t->k->exchange_start(t->engine, t->in.comm, &call, NORM_SLOT);
	t->k->exchange_finish(t->engine, t->in.comm, NORM_SLOT);
}

void jl_trainer_update(struct jl_trainer *t)
{
	bool clips = t->in.clip > 0;
	if (clips)
		global_norm(t);
	for (size_t u = t->shape.n_units; u-- > 0;) { /* in the order in which gradients were completed */
		struct jl_unit *unit = &t->units[u];
		finish_reduce(t, u);
		t->k->adamw(t->engine, &(struct jl_eng_adamw){ .n = unit->shard_n,
							       .param = unit->param_shard,
							       .master = unit->master,
							       .m = unit->m,
							       .v = unit->v,
							       .grad = unit->grad_shard,
							       .norm_sq = clips ? t->norm_sq : NULL });
		if (t->mode == JL_TRAIN_ZERO1 || t->mode == JL_TRAIN_ZERO2)
			start_gather(t, u, unit->param);
	}
}

void jl_trainer_finish_gathers(struct jl_trainer *t)
{
	for (size_t u = t->shape.n_units; u-- > 0;) /* in the order in which the gathers were started */
		finish_gather(t, u);
}
