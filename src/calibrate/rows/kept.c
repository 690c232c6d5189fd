/* Cache of derived parameters (physics) and residuals during a fit. */
#include "rows/kept.h"

#include <string.h>

#include "base/mem.h"

/* Bits of a key's state. A third slot holds the requested values until they are compared with the cached ones. */
enum { FILLED_0 = 1, FILLED_1 = 2, LAST = 4, KNOWN = 8, FRESH = 16 };

enum jl_status jl_kept_make(struct jl_kept *ret_kept, size_t physics_B, size_t n_keys, size_t n_rows,
			    struct jl_err *err)
{
	struct jl_kept kept = { .physics_B = physics_B, .n_keys = n_keys, .n_rows = n_rows };

	kept.physics = jl_realloc(NULL, (3 * n_keys + 1) * physics_B);
	kept.state = jl_realloc(NULL, n_keys + 1);
	kept.r = jl_realloc(NULL, (2 * n_rows + 1) * sizeof(double));
	*ret_kept = kept;
	if (!kept.physics || !kept.state || !kept.r) {
		jl_kept_release(ret_kept);
		return jl_fail_nomem(err);
	}
	memset(kept.state, 0, n_keys + 1);
	memset(kept.physics, 0, (3 * n_keys + 1) * physics_B);
	return JL_OK;
}

void jl_kept_release(struct jl_kept *kept)
{
	jl_free(kept->physics);
	jl_free(kept->state);
	jl_free(kept->r);
	*kept = (struct jl_kept){ .n_keys = 0 };
}

void jl_kept_begin(struct jl_kept *kept)
{
	for (size_t i = 0; i < kept->n_keys; i++)
		kept->state[i] &= (unsigned char)~(KNOWN | FRESH);
}

static unsigned char *place(const struct jl_kept *kept, size_t key, size_t which)
{
	return kept->physics + (3 * key + which) * kept->physics_B;
}

void *jl_kept_ask(struct jl_kept *kept, size_t key)
{
	return kept->state[key] & KNOWN ? NULL : place(kept, key, 2);
}

void jl_kept_settle(struct jl_kept *kept, size_t key)
{
	unsigned char *state = &kept->state[key];
	size_t at = 0;

	while (at < 2 && !((*state & (FILLED_0 << at)) &&
			   memcmp(place(kept, key, at), place(kept, key, 2), kept->physics_B) == 0))
		at++;
	const bool fresh = at == 2;

	at = fresh ? !(*state & LAST) : at;
	if (fresh)
		memcpy(place(kept, key, at), place(kept, key, 2), kept->physics_B);
	*state = (unsigned char)((*state & (FILLED_0 | FILLED_1)) | (FILLED_0 << at) | (at ? LAST : 0) | KNOWN |
				 (fresh ? FRESH : 0));
}

const void *jl_kept_at(const struct jl_kept *kept, size_t key, size_t row, double **ret_r, bool *ret_fresh)
{
	const size_t at = (kept->state[key] & LAST) != 0;

	*ret_r = &kept->r[2 * row + at];
	*ret_fresh = (kept->state[key] & FRESH) != 0;
	return place(kept, key, at);
}
