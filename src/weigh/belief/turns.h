/* Work that comes in independent pieces, shared out over as many threads as there are processors. Each piece writes to a place of
 * its own: nothing depends on which thread took it. */
#pragma once

#include "base/err.h"

struct jl_turns {
	int n;
	enum jl_status (*take)(void *ctx, int turn, struct jl_err *err);
	void *ctx;
	void (*watch)(void *watcher, int done); /* a few times a second, by the caller's thread; NULL: nobody looks */
	void *watcher;
};

/* The first failure ends it; err has the message of one that failed. */
enum jl_status jl_turns_take(const struct jl_turns *turns, struct jl_err *err);
