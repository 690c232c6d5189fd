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
	struct jl_err refusal;                 /* why the last of them */
	struct jl_store_taken done, going;     /* ended; in the open batch */
	size_t n_damaged;                      /* rows met that are no records */
	char damaged_id[JL_RECORD_ID_LEN + 1]; /* ... the first of them */
	struct jl_err damage;                  /* ... and what is wrong with it */
	bool in_batch;
	bool guarded; /* to the transaction's end: a row that is refused (JL_E_DATA) leaves the others as they are. Only where it spools */
	struct jl_buf batch;   /* lines of a batch that may have to go to the spool; only where the backend spools */
	struct jl_buf refused; /* lines of a batch that the server would not take, each with the reason in front */
};

void jl_store_go_offline(struct jl_store *store, const struct jl_err *why);
/* What waits, and what was refused before, is offered to the server; a failure leaves it where it is. */
void jl_store_send_waiting(struct jl_store *store);

/* sql.c: what is asked of a database, in the words that both kinds understand. */
enum jl_status jl_sql_begin(struct jl_store *store, bool guarded, struct jl_err *err);
enum jl_status jl_sql_commit(struct jl_store *store, struct jl_err *err); /* durable from here on */
void jl_sql_rollback(struct jl_store *store);
/* `line` ends with NUL. */
enum jl_status jl_sql_put(struct jl_store *store, const struct jl_record *record, const char *line, bool *ret_new,
			  struct jl_err *err);
enum jl_status jl_sql_replace(struct jl_store *store, const struct jl_record *record, const char *line,
			      struct jl_err *err);
enum jl_status jl_sql_erase(struct jl_store *store, const char *id, struct jl_err *err);
/* Ids that begin or end with `part`. */
enum jl_status jl_sql_find(struct jl_store *store, const char *part, char ret_ids[][JL_RECORD_ID_LEN + 1],
			   size_t *ret_n, struct jl_err *err);
enum jl_status jl_sql_body(struct jl_store *store, const char *id, struct jl_buf *out, struct jl_err *err);
/* The visitor gets a row's id, a blank and the line. */
enum jl_status jl_sql_each(struct jl_store *store, const struct jl_store_filter *filter, jl_store_visit *visit,
			   void *ctx, struct jl_err *err);
enum jl_status jl_sql_count(struct jl_store *store, size_t *ret_n, struct jl_err *err);
