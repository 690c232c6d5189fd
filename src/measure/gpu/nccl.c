#include "gpu/nccl.h"

#include <pthread.h>

#include "base/dynlib.h"

#define SYMBOL(RETURNS, NAME, ...) { .name = "nccl" #NAME, .offset = offsetof(struct jl_nccl, NAME) },
static const struct jl_dynlib_symbol symbols[] = { JL_NCCL_FUNCTIONS(SYMBOL) };

static const char *const names[] = { "libnccl.so.2", "libnccl.so", NULL };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct jl_nccl functions;
static bool is_open;

enum jl_status jl_nccl_open(const struct jl_nccl **ret_nccl, struct jl_err *err)
{
	struct jl_dynlib lib = { 0 };
	enum jl_status status = JL_OK;
	pthread_mutex_lock(&lock);
	if (!is_open && jl_dynlib_open(&lib, "JEOUL_NCCL", names, symbols, JL_LEN(symbols), &functions, NULL) != JL_OK)
		status = jl_fail(err, JL_E_ABSENT,
				 "%s cannot be opened: install NCCL (libnccl2) or name it in JEOUL_NCCL", names[0]);
	is_open = is_open || status == JL_OK;
	pthread_mutex_unlock(&lock);
	if (status == JL_OK)
		*ret_nccl = &functions;
	return status;
}

enum jl_status jl_nccl_check(const struct jl_nccl *nccl, int code, const char *what, struct jl_err *err)
{
	if (code == JL_NCCL_OK)
		return JL_OK;
	const char *text = nccl->GetErrorString(code);
	return jl_fail(err, JL_E_IO, "%s failed: %s (NCCL error %d)", what, text ? text : "?", code);
}
