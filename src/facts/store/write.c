/* Stores results: in the database, in the spool if the server is unreachable, or aside with the reason if it refuses them. */
#include <string.h>
#include <time.h>

#include "store/handle.h"

/* Adds the line with the reason before it; durable only after keep_refused. */
static enum jl_status set_aside(struct jl_store *store, const struct jl_err *why, const char *line, size_t len,
				struct jl_err *err)
{
	jl_buf_printf(&store->refused, "# %s\n", why->en);
	jl_buf_add(&store->refused, line, len);
	jl_buf_putc(&store->refused, '\n');
	store->refusal = *why;
	return store->refused.failed
		       ? jl_fail(err, JL_E_LIMIT, "a batch larger than %zu MiB", JL_STORE_BATCH_MAX_B >> 20)
		       : JL_OK;
}

static enum jl_status keep_refused(struct jl_store *store, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	if (store->refused.len)
		status = jl_spool_add(store->place.refused, store->refused.data, store->refused.len, err);
	jl_buf_reset(&store->refused);
	return status;
}

static enum jl_status read_line(const char *line, size_t len, struct jl_arena *arena, struct jl_record *ret_record,
				struct jl_err *err)
{
	jl_arena_init(arena, JL_ARENA_LIMIT_B);
	return jl_record_read(line, len, arena, ret_record, err);
}

/* Refuses times in the future, which would stay the newest forever; one day of tolerance for wrong clocks. */
static enum jl_status check_time(const struct jl_record *record, struct jl_err *err)
{
	const double now_s = (double)time(NULL);

	return record->time_s < now_s + 86400 || now_s < 1.7e9 /* false if the own clock is not set */
		       ? JL_OK
		       : jl_fail(err, JL_E_DATA,
				 "a record was measured %.0f days in the future; check the clock of where it comes "
				 "from",
				 (record->time_s - now_s) / 86400);
}

/* `ret_refused`: the record is valid and the server refused it; `err` has the reason. */
static enum jl_status offer(struct jl_store *store, const char *line, size_t len, bool *ret_refused, struct jl_err *err)
{
	struct jl_record record;
	struct jl_arena arena;
	bool new;
	char *body = NULL;
	enum jl_status status = read_line(line, len, &arena, &record, err);

	*ret_refused = false;
	if (!status) {
		body = jl_arena_strndup(&arena, line, len); /* the backend takes NUL-terminated text */
		status = body ? jl_sql_put(store, &record, body, &new, err) : jl_fail_nomem(err);
		*ret_refused = status == JL_E_DATA;
	}
	jl_arena_release(&arena);
	return status;
}

struct sending {
	struct jl_store *store;
	size_t n_refused;
	/* file of refused results: keep all lines if any is refused again; known ids are ignored when resent */
	bool keep;
};

static enum jl_status send_waiting(void *ctx, const char *line, size_t len, struct jl_err *err)
{
	struct sending *sending = ctx;
	struct jl_err why = { .status = JL_OK };
	bool refused;
	enum jl_status status = offer(sending->store, line, len, &refused, &why);

	sending->n_refused += refused;
	if (refused)
		return set_aside(sending->store, &why, line, len, err);
	if (status && err)
		*err = why;
	return status;
}

static enum jl_status send_again(void *ctx, const char *line, size_t len, struct jl_err *err)
{
	struct sending *sending = ctx;
	bool refused;
	enum jl_status status = offer(sending->store, line, len, &refused, err);

	if (!status || status == JL_E_IO || status == JL_E_NOMEM)
		return status;
	sending->store->refusal = *err;
	sending->n_refused++;
	sending->keep = true;
	return JL_OK;
}

static enum jl_status commit_sent(void *ctx, struct jl_err *err)
{
	struct jl_store *store = ((struct sending *)ctx)->store;

	JL_TRY(keep_refused(store, err));
	return jl_sql_commit(store, err);
}

/* Returns the number stored; the store is offline afterwards if the connection was lost. */
static size_t send_file(struct jl_store *store, const char *path, struct sending *sending,
			enum jl_status (*send)(void *, const char *, size_t, struct jl_err *))
{
	const struct jl_spool_sink sink = {
		.send = send, .commit = commit_sent, .ctx = sending, .keep = &sending->keep
	};
	struct jl_err err = { .status = JL_OK };
	size_t n = 0;

	if (jl_sql_begin(store, true, &err) == JL_OK) {
		if (jl_spool_send(path, &sink, &n, &err) == JL_OK) {
			/* already sent by another process; the transaction is still open */
			if (n == 0)
				jl_sql_rollback(store);
			return n - sending->n_refused;
		}
	}
	jl_buf_reset(&store->refused);
	jl_sql_rollback(store);
	jl_store_go_offline(store, &err);
	return 0;
}

void jl_store_send_waiting(struct jl_store *store)
{
	struct sending waiting = { .store = store }, again = { .store = store };

	(void)jl_spool_count(store->place.refused, &store->n_refused, NULL);
	(void)jl_spool_count(store->place.spool, &store->n_waiting, NULL);
	if (store->db && store->n_refused) {
		store->n_sent += send_file(store, store->place.refused, &again, send_again);
		if (store->db)
			store->n_refused = again.n_refused;
	}
	if (store->db && store->n_waiting) {
		store->n_sent += send_file(store, store->place.spool, &waiting, send_waiting);
		if (store->db)
			store->n_refused += waiting.n_refused;
		(void)jl_spool_count(store->place.spool, &store->n_waiting, NULL);
	}
}

enum jl_status jl_store_begin(struct jl_store *store, struct jl_err *err)
{
	struct jl_err why = { .status = JL_OK };

	if (store->in_batch)
		return jl_fail(err, JL_E_USAGE, "a batch is open already");
	jl_buf_reset(&store->batch);
	if (store->db && jl_sql_begin(store, false, &why)) {
		if (!store->backend->spools)
			return err ? (*err = why, why.status) : why.status;
		jl_store_go_offline(store, &why);
	}
	store->going = (struct jl_store_taken){ 0 };
	store->in_batch = true;
	return JL_OK;
}

static enum jl_status to_spool(struct jl_store *store, const char *lines, size_t len, struct jl_err *err)
{
	JL_TRY(jl_spool_add(store->place.spool, lines, len, err));
	return jl_spool_count(store->place.spool, &store->n_waiting, err);
}

/* After a rollback by the server, the whole batch goes to the spool. */
static enum jl_status spool_batch(struct jl_store *store, struct jl_err *err)
{
	size_t *n = store->going.n;

	n[JL_STORE_SPOOLED] += n[JL_STORE_NEW] + n[JL_STORE_KNOWN];
	n[JL_STORE_NEW] = n[JL_STORE_KNOWN] = 0;
	return store->batch.len ? to_spool(store, store->batch.data, store->batch.len, err) : JL_OK;
}

enum jl_status jl_store_end(struct jl_store *store, struct jl_err *err)
{
	struct jl_err why = { .status = JL_OK };
	enum jl_status status = JL_OK;

	if (!store->in_batch)
		return JL_OK;
	store->in_batch = false;
	if (store->db && jl_sql_commit(store, &why)) {
		jl_sql_rollback(store);
		status = why.status;
		if (store->backend->spools)
			jl_store_go_offline(store, &why);
		else if (err)
			*err = why;
	}
	if (!store->db)
		status = spool_batch(store, err);
	JL_THEN(status, keep_refused(store, err));
	for (int i = 0; i < JL_N_STORE_KEPT && !status; i++)
		store->done.n[i] += store->going.n[i];
	jl_buf_reset(&store->batch);
	return status;
}

void jl_store_abandon(struct jl_store *store)
{
	if (store->in_batch && store->db)
		jl_sql_rollback(store);
	if (store->in_batch)
		store->n_refused -= store->going.n[JL_STORE_REFUSED];
	store->in_batch = false;
	jl_buf_reset(&store->batch);
	jl_buf_reset(&store->refused);
}

/* A failed statement aborts the whole transaction: repeats the batch so far, from now on with a savepoint per row. */
static enum jl_status begin_again(struct jl_store *store, struct jl_err *err)
{
	const struct jl_buf *batch = &store->batch;
	enum jl_status status = JL_OK;

	jl_sql_rollback(store);
	JL_TRY(jl_sql_begin(store, true, err));
	for (size_t at = 0; at < batch->len && !status;) {
		const size_t len = strcspn(batch->data + at, "\n");
		bool refused;

		status = offer(store, batch->data + at, len, &refused, err);
		at += len + 1;
	}
	return status;
}

static enum jl_status refuse(struct jl_store *store, const char *line, const struct jl_err *why, struct jl_err *err)
{
	JL_TRY(set_aside(store, why, line, strlen(line), err));

	if (!store->in_batch)
		JL_TRY(keep_refused(store, err));
	store->n_refused++;
	return JL_OK;
}

/* Stores in the database. JL_OK with `ret_kept`; JL_STORE_SPOOLED: the connection was lost, and the caller must spool the line. */
static enum jl_status to_database(struct jl_store *store, const struct jl_record *record, const char *line,
				  enum jl_store_kept *ret_kept, struct jl_err *err)
{
	struct jl_err why = { .status = JL_OK }, gone = { .status = JL_OK };
	bool new = false;
	enum jl_status status = jl_sql_put(store, record, line, &new, &why);

	*ret_kept = new ? JL_STORE_NEW : JL_STORE_KNOWN;
	if (!status)
		return JL_OK;
	if (!store->backend->spools) {
		if (err)
			*err = why;
		return status;
	}
	if (status != JL_E_IO && store->in_batch && !store->guarded && begin_again(store, &gone)) {
		why = gone;
		status = JL_E_IO;
	}
	if (status == JL_E_IO) {
		*ret_kept = JL_STORE_SPOOLED;
		jl_store_go_offline(store, &why);
		return JL_OK;
	}
	*ret_kept = JL_STORE_REFUSED;
	return refuse(store, line, &why, err);
}

/* Stores one row, in its own transaction unless a batch is open: single statements are transactions in both backends. */
static enum jl_status put_row(struct jl_store *store, const struct jl_record *record, const char *line,
			      enum jl_store_kept *ret_kept, struct jl_err *err)
{
	enum jl_store_kept kept = JL_STORE_SPOOLED;

	JL_TRY(store->db ? to_database(store, record, line, &kept, err) : JL_OK);
	if (store->backend->spools && kept != JL_STORE_REFUSED) {
		if (!store->in_batch)
			jl_buf_reset(&store->batch);
		jl_buf_puts(&store->batch, line);
		jl_buf_putc(&store->batch, '\n');
		if (store->batch.failed)
			return jl_fail(err, JL_E_LIMIT, "a batch larger than %zu MiB", JL_STORE_BATCH_MAX_B >> 20);
	}
	if (kept == JL_STORE_SPOOLED && !store->in_batch)
		JL_TRY(to_spool(store, store->batch.data, store->batch.len, err));
	(store->in_batch ? &store->going : &store->done)->n[kept]++;
	if (ret_kept)
		*ret_kept = kept;
	return JL_OK;
}

enum jl_status jl_store_put(struct jl_store *store, const struct jl_record *record, enum jl_store_kept *ret_kept,
			    struct jl_err *err)
{
	struct jl_buf line;
	enum jl_status status;

	JL_TRY(jl_record_check(record, err));
	JL_TRY(check_time(record, err));
	jl_buf_init(&line, JL_RECORD_TEXT_MAX_B);
	jl_record_write(record, &line);
	if (line.failed)
		status = line.failed == JL_E_NOMEM
				 ? jl_fail_nomem(err)
				 : jl_fail(err, JL_E_LIMIT, "a record larger than %zu MiB", JL_RECORD_TEXT_MAX_B >> 20);
	else
		status = put_row(store, record, jl_buf_text(&line), ret_kept, err);
	jl_buf_release(&line);
	return status;
}

enum jl_status jl_store_put_line(struct jl_store *store, const char *line, size_t len, enum jl_store_kept *ret_kept,
				 struct jl_err *err)
{
	struct jl_record record;
	struct jl_arena arena;
	enum jl_status status = read_line(line, len, &arena, &record, err);

	JL_THEN(status, check_time(&record, err));
	if (!status) {
		char *body = jl_arena_strndup(&arena, line, len);

		for (char *c = body; c && *c; c++)
			if (*c == '\n' || *c == '\r') /* white space between tokens only: in strings it is escaped */
				*c = ' ';
		status = body ? put_row(store, &record, body, ret_kept, err) : jl_fail_nomem(err);
	}
	jl_arena_release(&arena);
	return status;
}
