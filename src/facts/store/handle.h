/* An open store. Private to src/facts/store: store.c opens, reads and changes, write.c stores results. */
#pragma once

#include "store/backend.h"

#define JL_STORE_BATCH_MAX_B ((size_t)256 << 20)

struct jl_store {
	const struct jl_store_backend *backend;
	struct jl_store_db *db; /* NULL: server unreachable */
	struct jl_store_place place;
	struct jl_err offline; /* reason why the server is unreachable */
	size_t n_waiting, n_sent, n_refused;
	struct jl_err refusal;                 /* reason of the last refusal */
	struct jl_store_taken done, going;     /* results of finished batches; of the open batch */
	size_t n_damaged;                      /* rows found that are invalid records */
	char damaged_id[JL_RECORD_ID_LEN + 1]; /* id of the first of them */
	struct jl_err damage;                  /* error of the first damaged row */
	bool in_batch;
	/* each row has a savepoint until the transaction ends: a refused row (JL_E_DATA) does not abort the others. Only with a spool */
	bool guarded;
	struct jl_buf batch;   /* lines of the open batch, in case they must go to the spool; only with a spool */
	struct jl_buf refused; /* lines of the batch refused by the server, each with the reason before it */
};

void jl_store_go_offline(struct jl_store *store, const struct jl_err *why);
/* Sends waiting and earlier refused results to the server; on failure they stay in their files. */
void jl_store_send_waiting(struct jl_store *store);

/* sql.c: statements in the SQL common to both backends. */
enum jl_status jl_sql_begin(struct jl_store *store, bool guarded, struct jl_err *err);
enum jl_status jl_sql_commit(struct jl_store *store, struct jl_err *err); /* durable when it returns JL_OK */
void jl_sql_rollback(struct jl_store *store);
/* `line` is NUL-terminated. */
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
