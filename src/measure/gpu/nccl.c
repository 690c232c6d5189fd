/* Opens NCCL or RCCL at run time. */
#include "gpu/nccl.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/dynlib.h"

#define SYMBOL(RETURNS, NAME, ...) { .name = "nccl" #NAME, .offset = offsetof(struct jl_nccl, NAME) },
static const struct jl_dynlib_symbol symbols[] = { JL_NCCL_FUNCTIONS(SYMBOL) };

struct library {
	const char *env, *package, *names[3];
	struct jl_nccl functions;
	bool is_open;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum jl_status open_one(struct library *l, const struct jl_nccl **ret_nccl, struct jl_err *err)
{
	struct jl_dynlib lib = { 0 };
	enum jl_status status = JL_OK;
	pthread_mutex_lock(&lock);
	if (!l->is_open)
		status = jl_dynlib_open(&lib, l->env, l->names, symbols, JL_LEN(symbols), &l->functions, err);
	if (status && !getenv(l->env)) /* a library named by the environment reports its own error */
		status = jl_fail(err, JL_E_ABSENT, "%s cannot be opened: install %s or name it in %s", l->names[0],
				 l->package, l->env);
	l->is_open = l->is_open || status == JL_OK;
	pthread_mutex_unlock(&lock);
	if (status == JL_OK)
		*ret_nccl = &l->functions;
	return status;
}

enum jl_status jl_nccl_open(const struct jl_nccl **ret_nccl, struct jl_err *err)
{
	static struct library nccl = { .env = "JEOUL_NCCL",
				       .package = "NCCL (libnccl2)",
				       .names = { "libnccl.so.2", "libnccl.so" } };
	return open_one(&nccl, ret_nccl, err);
}

enum jl_status jl_rccl_open(const struct jl_nccl **ret_nccl, struct jl_err *err)
{
	static struct library rccl = { .env = "JEOUL_RCCL",
				       .package = "RCCL",
				       .names = { "librccl.so.1", "librccl.so" } };
	return open_one(&rccl, ret_nccl, err);
}

enum jl_status jl_nccl_check(const struct jl_nccl *nccl, int code, const char *what, struct jl_err *err)
{
	if (code == JL_NCCL_OK)
		return JL_OK;
	const char *text = nccl->GetErrorString(code);
	return jl_fail(err, JL_E_IO, "%s failed: %s (NCCL error %d)", what, text ? text : "?", code);
}
