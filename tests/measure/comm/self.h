/* A single rank that speaks with itself: what tests of a call and of backends need of a communicator. */
#ifndef TESTS_COMM_SELF_H
#define TESTS_COMM_SELF_H

#include <string.h>

#include "base/mem.h"
#include "comm/comm.h"

static enum jl_status self_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err)
{
	(void)comm, (void)err;
	if (call->coll != JL_COLL_BARRIER && call->send != call->recv && call->count)
		memcpy(call->recv, call->send, call->count * jl_comm_type_B(call->type));
	return JL_OK;
}

static void self_destroy(struct jl_comm *comm)
{
	jl_free(comm);
}

static const struct jl_comm_backend self_backend = { .name = "self", .run = self_run, .destroy = self_destroy };

static inline enum jl_status comm_self(struct jl_comm **ret_comm, struct jl_err *err)
{
	struct jl_comm *comm = jl_realloc(NULL, sizeof(*comm));

	JL_TRY(jl_got(comm, err));
	*comm = (struct jl_comm){ .backend = &self_backend, .n_ranks = 1, .n_local = 1, .host = "localhost" };
	*ret_comm = comm;
	return JL_OK;
}

#endif
