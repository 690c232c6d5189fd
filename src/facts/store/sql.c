/* SQL statements shared by SQLite and PostgreSQL: values as text, types by CAST. Parameters first appear in numerical order, or are found by name. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "store/handle.h"

#define SQL_MAX 700

static enum jl_status ask(struct jl_store *s, const char *sql, const char *const *values, int n, jl_store_visit *visit,
			  void *ctx, struct jl_err *err)
{
	return s->backend->ask(s->db, sql, values, n, visit, ctx, NULL, err);
}

enum jl_status jl_sql_begin(struct jl_store *s, bool guarded, struct jl_err *err)
{
	s->guarded = guarded;
	return ask(s, s->backend->begin, NULL, 0, NULL, NULL, err);
}

enum jl_status jl_sql_commit(struct jl_store *s, struct jl_err *err)
{
	s->guarded = false;
	return ask(s, "COMMIT", NULL, 0, NULL, NULL, err);
}

void jl_sql_rollback(struct jl_store *s)
{
	s->guarded = false;
	(void)ask(s, "ROLLBACK", NULL, 0, NULL, NULL, NULL);
}

static enum jl_status write_row(struct jl_store *s, const char *form, const struct jl_record *r, const char *line,
				bool *ret_changed, struct jl_err *err)
{
	char sql[SQL_MAX], time[JL_NUM_TEXT_MAX];
	const char *const values[] = { r->id,     r->kind,    r->machine,      r->run,
				       r->origin, r->backend, r->machine_name, jl_num_text(time, r->time_s),
				       line };
	long long n = 0;

	(void)snprintf(sql, sizeof(sql), form, s->backend->table);
	JL_TRY(s->backend->ask(s->db, sql, values, 9, NULL, NULL, &n, err));
	*ret_changed = n > 0;
	return JL_OK;
}

enum jl_status jl_sql_put(struct jl_store *s, const struct jl_record *record, const char *line, bool *ret_new,
			  struct jl_err *err)
{
	JL_TRY(s->guarded ? ask(s, "SAVEPOINT row", NULL, 0, NULL, NULL, err) : JL_OK);
	enum jl_status status = write_row(
		s,
		"INSERT INTO %s (id, kind, machine, run, origin, backend, machine_name, time_s, body) VALUES ($1, $2, "
		"$3, $4, $5, $6, $7, CAST($8 AS double precision), $9) ON CONFLICT (id) DO NOTHING",
		record, line, ret_new, err);
	/* `err` keeps the reason of the refusal */
	if (s->guarded && ask(s, status ? "ROLLBACK TO SAVEPOINT row" : "RELEASE SAVEPOINT row", NULL, 0, NULL, NULL,
			      status ? NULL : err))
		status = JL_E_IO;
	return status;
}

enum jl_status jl_sql_replace(struct jl_store *s, const struct jl_record *record, const char *line, struct jl_err *err)
{
	bool changed;

	return write_row(s,
			 "UPDATE %s SET kind = $2, machine = $3, run = $4, origin = $5, backend = $6, machine_name = "
			 "$7, time_s = CAST($8 AS double precision), body = $9 WHERE id = $1",
			 record, line, &changed, err);
}

enum jl_status jl_sql_erase(struct jl_store *s, const char *id, struct jl_err *err)
{
	char sql[SQL_MAX];

	(void)snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE id = $1", s->backend->table);
	return ask(s, sql, &id, 1, NULL, NULL, err);
}

struct found {
	char (*ids)[JL_RECORD_ID_LEN + 1];
	size_t n;
};

static enum jl_status take_id(void *ctx, const char *text, size_t len, struct jl_err *err)
{
	struct found *found = ctx;

	(void)len, (void)err;
	if (found->n < JL_STORE_FIND_MAX)
		(void)snprintf(found->ids[found->n++], JL_RECORD_ID_LEN + 1, "%s", text);
	return JL_OK;
}

enum jl_status jl_sql_find(struct jl_store *s, const char *part, char ret_ids[][JL_RECORD_ID_LEN + 1], size_t *ret_n,
			   struct jl_err *err)
{
	struct found found = { .ids = ret_ids };
	char sql[SQL_MAX];

	(void)snprintf(sql, sizeof(sql),
		       "SELECT id FROM %s WHERE substr(id, 1, length($1)) = $1 OR substr(id, length(id) - length($1) + "
		       "1) = $1 ORDER BY id%s LIMIT %d",
		       s->backend->table, s->backend->bytewise, JL_STORE_FIND_MAX);
	JL_TRY(ask(s, sql, &part, 1, take_id, &found, err));
	*ret_n = found.n;
	return JL_OK;
}

static enum jl_status take_body(void *ctx, const char *text, size_t len, struct jl_err *err)
{
	(void)err;
	jl_buf_add(ctx, text, len);
	return JL_OK;
}

enum jl_status jl_sql_body(struct jl_store *s, const char *id, struct jl_buf *out, struct jl_err *err)
{
	char sql[SQL_MAX];

	(void)snprintf(sql, sizeof(sql), "SELECT body FROM %s WHERE id = $1", s->backend->table);
	JL_TRY(ask(s, sql, &id, 1, take_body, out, err));
	if (!out->len && !out->failed)
		return jl_fail(err, JL_E_NOTFOUND, "%s: there is no record %s", s->place.shown, id);
	return jl_got(!out->failed, err);
}

enum jl_status jl_sql_each(struct jl_store *s, const struct jl_store_filter *f, jl_store_visit *visit, void *ctx,
			   struct jl_err *err)
{
	char sql[SQL_MAX], since[JL_NUM_TEXT_MAX], limit[32];
	const char *order = f->oldest_first ? "ASC" : "DESC";
	const char *const values[] = { f->kind,   f->machine, f->run,
				       f->origin, f->backend, jl_num_text(since, f->since_s),
				       limit };

	(void)snprintf(limit, sizeof(limit), "%lld", f->limit ? (long long)f->limit : (long long)INT64_MAX);
	(void)snprintf(
		sql, sizeof(sql),
		"SELECT id || ' ' || body FROM %s WHERE (CAST($1 AS text) IS NULL OR kind = $1) AND (CAST($2 AS text) "
		"IS NULL OR machine = $2 OR machine_name = $2) AND (CAST($3 AS text) IS NULL OR run = $3) AND (CAST($4 "
		"AS text) IS NULL OR origin = $4) AND (CAST($5 AS text) IS NULL OR backend = $5) AND time_s >= CAST($6 "
		"AS double precision) ORDER BY time_s %s, id%s %s LIMIT CAST($7 AS bigint)",
		s->backend->table, order, s->backend->bytewise, order);
	return ask(s, sql, values, 7, visit, ctx, err);
}

static enum jl_status take_number(void *ctx, const char *text, size_t len, struct jl_err *err)
{
	(void)len, (void)err;
	*(long long *)ctx = strtoll(text, NULL, 10);
	return JL_OK;
}

enum jl_status jl_sql_number(const struct jl_store_backend *backend, struct jl_store_db *db, const char *sql,
			     long long *ret_value, struct jl_err *err)
{
	*ret_value = 0;
	return backend->ask(db, sql, NULL, 0, take_number, ret_value, NULL, err);
}

enum jl_status jl_sql_count(struct jl_store *s, size_t *ret_n, struct jl_err *err)
{
	char sql[SQL_MAX];
	long long n;

	(void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", s->backend->table);
	JL_TRY(jl_sql_number(s->backend, s->db, sql, &n, err));
	*ret_n = (size_t)n;
	return JL_OK;
}
