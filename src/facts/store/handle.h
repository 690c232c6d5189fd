/* What an open store is. Private to src/facts/store: store.c opens, reads and changes, write.c takes results. */
#pragma once

#include "store/backend.h"

#define JL_STORE_BATCH_MAX_B ((size_t)256 << 20)

struct jl_store {
	const struct jl_store_backend *backend;
	struct jl_store_db *db; /* NULL: the server cannot be reached */
	struct jl_store_place place;
	struct jl_err offline; /* why */
	size_t n_waiting, n_sent, n_refused;
	struct jl_err refusal;             /* why the last of them */
	struct jl_store_taken done, going; /* ended; in the open batch */
	bool in_batch, guarded;
	struct jl_buf batch;   /* lines of a batch that may have to go to the spool; only where the backend spools */
	struct jl_buf refused; /* lines of a batch that the server would not take, each with the reason in front */
};

void jl_store_go_offline(struct jl_store *store, const struct jl_err *why);
struct jl_store_row jl_store_row_of(const struct jl_record *record, const char *line, size_t len);
/* What waits, and what was refused before, is offered to the server; a failure leaves it where it is. */
void jl_store_send_waiting(struct jl_store *store);
