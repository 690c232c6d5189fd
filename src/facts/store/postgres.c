/* PostgreSQL backend for a team's server. A commit returns when the server has it on disk (synchronous_commit). */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <stddef.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/backend.h"
#include "base/dynlib.h"
#include "base/err.h"

/* The functions of libpq in use, opened at run time: needs neither linking nor its header. */
struct pg_conn;   /* PGconn */
struct pg_result; /* PGresult */

/* PQconninfoOption; this layout since libpq 7.x. */
struct pg_option {
	char *keyword, *envvar, *compiled, *val, *label, *dispchar;
	int dispsize;
};

enum { PG_CONNECTION_OK = 0 };                                     /* ConnStatusType */
enum { PG_COMMAND_OK = 1, PG_TUPLES_OK = 2, PG_SINGLE_TUPLE = 9 }; /* ExecStatusType */
enum { PG_SQLSTATE = 'C' };                                        /* PG_DIAG_SQLSTATE */

typedef void pg_notice(void *ctx, const char *text);

/* X(return type, name here, name in the library, arguments) */
/* clang-format off */
#define JL_LIBPQ_FUNCTIONS(X) \
	X(struct pg_conn *, connect, "PQconnectdbParams", const char *const *keywords, const char *const *values, int expand_dbname) \
	X(void, finish, "PQfinish", struct pg_conn *conn) \
	X(int, status, "PQstatus", const struct pg_conn *conn) \
	X(pg_notice *, notice, "PQsetNoticeProcessor", struct pg_conn *conn, pg_notice *say, void *ctx) \
	X(char *, error_message, "PQerrorMessage", const struct pg_conn *conn) \
	X(int, socket, "PQsocket", const struct pg_conn *conn) \
	X(int, set_nonblocking, "PQsetnonblocking", struct pg_conn *conn, int on) \
	X(int, flush, "PQflush", struct pg_conn *conn) \
	X(int, consume, "PQconsumeInput", struct pg_conn *conn) \
	X(int, is_busy, "PQisBusy", struct pg_conn *conn) \
	X(int, send, "PQsendQuery", struct pg_conn *conn, const char *query) \
	X(int, send_params, "PQsendQueryParams", struct pg_conn *conn, const char *command, int n_params, const unsigned *types, const char *const *values, const int *lengths, const int *formats, int result_format) \
	X(int, single_row, "PQsetSingleRowMode", struct pg_conn *conn) \
	X(struct pg_result *, get_result, "PQgetResult", struct pg_conn *conn) \
	X(int, result_status, "PQresultStatus", const struct pg_result *res) \
	X(char *, result_error, "PQresultErrorMessage", const struct pg_result *res) \
	X(char *, error_field, "PQresultErrorField", const struct pg_result *res, int field) \
	X(char *, cmd_status, "PQcmdStatus", struct pg_result *res) \
	X(char *, value, "PQgetvalue", const struct pg_result *res, int row, int field) \
	X(int, length, "PQgetlength", const struct pg_result *res, int row, int field) \
	X(char *, cmd_tuples, "PQcmdTuples", struct pg_result *res) \
	X(void, clear, "PQclear", struct pg_result *res) \
	X(struct pg_option *, parse, "PQconninfoParse", const char *conninfo, char **errmsg) \
	X(void, free_options, "PQconninfoFree", struct pg_option *options) \
	X(void, free_memory, "PQfreemem", void *memory)
/* clang-format on */
#define JL_LIBPQ_MEMBER(RETURNS, NAME, SYMBOL, ...) RETURNS (*NAME)(__VA_ARGS__);
struct libpq {
	JL_LIBPQ_FUNCTIONS(JL_LIBPQ_MEMBER)
};

#define SYMBOL(RETURNS, NAME, TEXT, ...) { .name = (TEXT), .offset = offsetof(struct libpq, NAME) },
static const struct jl_dynlib_symbol symbols[] = { JL_LIBPQ_FUNCTIONS(SYMBOL) };

/* Opens the library once and keeps it; JL_E_ABSENT names its package. */
static enum jl_status open_libpq(const struct libpq **ret_pq, struct jl_err *err)
{
	static const char *const names[] = { "libpq.so.5", "libpq.so", NULL };
	static struct libpq pq; /* never closed, because it registers handlers */
	static struct jl_dynlib lib;
	struct jl_err why;

	if (!lib.handle && jl_dynlib_open(&lib, "JEOUL_LIBPQ", names, symbols, JL_LEN(symbols), &pq, &why))
		return jl_fail_from(err, JL_E_ABSENT, NULL, &why,
				    "PostgreSQL is not available: {}; install the package libpq5");
	*ret_pq = &pq;
	return JL_OK;
}

#define CONNECT_S  "5"
#define MIGRATE_MS 600000 /* a migration rewrites all rows */
#define ANSWER_S   3600   /* limit of one statement with any number of rows */
#define RESULT_B   (JL_RECORD_TEXT_MAX_B + ((size_t)1 << 20))
#define EXTRA_MAX  1000 /* unexpected rows accepted before giving up */

struct jl_store_db {
	const struct libpq *pq;
	struct pg_conn *conn;
	char *shown;
	char *password;  /* only to remove it from messages */
	int patience_ms; /* maximum time without a result */
	bool silent;     /* timed out: the connection is not used again */
	bool flooded;    /* sent too many rows: not used again either */
	double since_s;  /* time of the last result or statement */
	double begin_s;  /* start of the statement */
	size_t unread_B; /* bytes since the last result */
};

/* As in sqlite.c: step i migrates version i to i + 1. */
static const char *const steps[JL_STORE_SCHEMA] = {
	"CREATE TABLE jeoul_record (id text PRIMARY KEY, time_s double precision NOT NULL, kind text NOT NULL, machine "
	"text, run text, body text NOT NULL);CREATE INDEX jeoul_record_time ON jeoul_record (time_s, id);",

	"ALTER TABLE jeoul_record ADD COLUMN origin text, ADD COLUMN backend text, ADD COLUMN machine_name text;UPDATE "
	"jeoul_record SET origin = body::json->>'origin', backend = body::json->>'backend', machine_name = "
	"body::json->>'machine_name';CREATE INDEX jeoul_record_kind ON jeoul_record (kind, time_s);CREATE INDEX "
	"jeoul_record_run ON jeoul_record (run);",
};

static const char *option(const struct pg_option *options, const char *keyword)
{
	for (; options && options->keyword; options++)
		if (strcmp(options->keyword, keyword) == 0)
			return options->val && *options->val ? options->val : NULL;
	return NULL;
}

/* True if a password with an unescaped '/' or '@' has moved part of itself into what would be shown. */
static bool is_garbled(const struct pg_option *options)
{
	const char *db = option(options, "dbname"), *port = option(options, "port");

	return (db && strpbrk(db, "@/:")) || (port && port[strspn(port, "0123456789,")]);
}

static enum jl_status parse_url(const struct libpq *pq, const char *url, struct pg_option **ret_options,
				struct jl_err *err)
{
	char *why = NULL;
	struct pg_option *options = pq->parse(url, &why);

	if (why)
		pq->free_memory(why); /* the message quotes parts of the URL, which may include the password */
	if (options && is_garbled(options)) {
		pq->free_options(options);
		options = NULL;
	}
	if (!options)
		return jl_fail(err, JL_E_USAGE,
			       "this is not the address of a PostgreSQL store; write postgresql://USER@HOST:5432/DB "
			       "(special characters of a password as %%XX)");
	*ret_options = options;
	return JL_OK;
}

enum jl_status jl_store_postgres_shown(char **ret_shown, const char *url, struct jl_err *err)
{
	const struct libpq *pq;
	struct pg_option *options = NULL;
	const char *user, *host, *port, *db;
	enum jl_status status = open_libpq(&pq, err);

	JL_THEN(status, parse_url(pq, url, &options, err));
	if (status)
		return status;
	user = option(options, "user");
	host = option(options, "host");
	port = option(options, "port");
	db = option(options, "dbname");
	host = host ? host : option(options, "hostaddr");
	host = host ? host : "localhost";
	size_t size = strlen(host) + (user ? strlen(user) : 0) + (port ? strlen(port) : 0) + (db ? strlen(db) : 0) + 24;
	char *shown = jl_realloc(NULL, size);
	if (shown) {
		(void)snprintf(shown, size, "postgresql://%s%s%s%s%s/%s", user ? user : "", user ? "@" : "", host,
			       port ? ":" : "", port ? port : "", db ? db : "");
		jl_utf8_sanitize(shown);
	}
	pq->free_options(options);
	JL_TRY(jl_got(shown, err));
	*ret_shown = shown;
	return JL_OK;
}

/* Makes one line and blanks every copy of the password. */
static void tidy(char *text, const char *password)
{
	size_t n = password ? strlen(password) : 0;

	for (char *at = n ? strstr(text, password) : NULL; at; at = strstr(at + n, password))
		memset(at, '*', n);
	for (char *c = text; *c; c++)
		if (isspace((unsigned char)*c))
			*c = ' ';
	for (size_t len = strlen(text); len > 0 && text[len - 1] == ' '; len--)
		text[len - 1] = '\0';
	jl_utf8_sanitize(text);
}

/* True if a reachable server refuses the statement: value (22), constraint (23), read-only (25), rights or tables (42), size (54), unsupported
 * (0A). All other errors may be temporary. */
static bool is_refusal(const char *sqlstate)
{
	static const char *const classes[] = { "22", "23", "25", "42", "54", "0A" };

	for (size_t i = 0; sqlstate && i < JL_LEN(classes); i++)
		if (strncmp(sqlstate, classes[i], 2) == 0)
			return true;
	return false;
}

/* JL_E_DATA: refused. JL_E_IO: unreachable. */
static enum jl_status fail(struct jl_store_db *db, const struct pg_result *res, struct jl_err *err)
{
	const bool refused = res && is_refusal(db->pq->error_field(res, PG_SQLSTATE));
	char text[400];
	const char *why = res ? db->pq->result_error(res) : NULL;

	if (db->flooded)
		return jl_fail(err, JL_E_IO, "%s: the server sends more than it was asked for", db->shown);
	if (db->silent)
		return jl_fail(err, JL_E_IO, "%s: the server gave no answer for %d s", db->shown,
			       db->patience_ms / 1000);
	if (!why || !*why)
		why = db->pq->error_message(db->conn);
	(void)snprintf(text, sizeof(text), "%s", why && *why ? why : "?");
	tidy(text, db->password);
	return jl_fail(err, refused ? JL_E_DATA : JL_E_IO, "%s: %s", db->shown, text);
}

/* Waits for one of `events`; false: timeout. Notices and partial rows do not count as an answer. */
static bool wait_for(struct jl_store_db *db, short events)
{
	struct pollfd server = { .fd = db->pq->socket(db->conn), .events = events };
	const double end_s = fmin(db->since_s + 1e-3 * db->patience_ms, db->begin_s + ANSWER_S);
	int n = -1;

	while (n < 0) { /* interrupted by a signal */
		const double left_s = end_s - jl_clock_s();

		n = poll(&server, 1, left_s > 0 ? (int)(1e3 * left_s) + 1 : 0);
		if (n < 0 && errno != EINTR)
			return true; /* libpq reports the connection's error */
	}
	int waiting_B = 0;

	db->silent = n == 0 || jl_budget_over();
	if (n > 0 && ioctl(server.fd, FIONREAD, &waiting_B) == 0)
		db->unread_B += (size_t)waiting_B;
	db->flooded |= db->unread_B > RESULT_B;
	db->silent |= db->flooded;
	return !db->silent;
}

/* Next result; NULL: none left, or timeout. libpq's own waits have no timeout. */
static struct pg_result *next_result(struct jl_store_db *db)
{
	while (!db->silent && db->pq->flush(db->conn) == 1)
		if (wait_for(db, POLLIN | POLLOUT) && !db->pq->consume(db->conn))
			break;
	while (!db->silent && db->pq->is_busy(db->conn))
		if (wait_for(db, POLLIN) && !db->pq->consume(db->conn))
			break;
	db->since_s = jl_clock_s();
	db->unread_B = 0;
	return db->silent ? NULL : db->pq->get_result(db->conn);
}

/* Last result of a statement, or the first error; NULL: not sent or not answered. */
static struct pg_result *answer(struct jl_store_db *db, int sent)
{
	struct pg_result *res = NULL, *next;
	size_t n_rows = 0;

	while (sent && (next = next_result(db)) != NULL) {
		if (db->pq->result_status(next) == PG_SINGLE_TUPLE) { /* no rows are expected */
			db->pq->clear(next);
			db->silent = db->flooded = ++n_rows > EXTRA_MAX;
			continue;
		}
		const int code = db->pq->result_status(res);

		if (res && code != PG_COMMAND_OK && code != PG_TUPLES_OK) {
			db->pq->clear(next);
			continue;
		}
		db->pq->clear(res);
		res = next;
	}
	if (db->silent) {
		db->pq->clear(res);
		res = NULL;
	}
	return res;
}

/* Starts the time limit of a statement; false: the connection is unusable. */
static bool begin(struct jl_store_db *db)
{
	db->begin_s = db->since_s = jl_clock_s();
	db->unread_B = 0;
	return !db->silent;
}

static enum jl_status run(struct jl_store_db *db, const char *sql, struct jl_err *err)
{
	struct pg_result *res = answer(db, begin(db) && db->pq->send(db->conn, sql) && db->pq->single_row(db->conn));
	int code = db->pq->result_status(res);
	enum jl_status status = code == PG_COMMAND_OK || code == PG_TUPLES_OK ? JL_OK : fail(db, res, err);

	db->pq->clear(res);
	return status;
}

/* Receives rows one at a time: an export of any size needs the memory of one record. */
static enum jl_status walk(struct jl_store_db *db, jl_store_visit *visit, void *ctx, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	struct pg_result *res;
	size_t n_extra = 0;

	/* read all results, also after an error: only then the connection is free again */
	while ((res = next_result(db)) != NULL) {
		int code = db->pq->result_status(res);

		if (code == PG_SINGLE_TUPLE && !status)
			status = visit(ctx, db->pq->value(res, 0, 0), (size_t)db->pq->length(res, 0, 0), err);
		else if (code == PG_SINGLE_TUPLE)
			db->silent = db->flooded = ++n_extra > EXTRA_MAX;
		else if (code != PG_TUPLES_OK && code != PG_SINGLE_TUPLE && !status)
			status = fail(db, res, err);
		db->pq->clear(res);
	}
	return !status && db->silent ? fail(db, NULL, err) : status;
}

static enum jl_status ask(struct jl_store_db *db, const char *sql, const char *const *values, int n_values,
			  jl_store_visit *visit, void *ctx, long long *ret_n, struct jl_err *err)
{
	const bool sent = begin(db) && db->pq->send_params(db->conn, sql, n_values, NULL, values, NULL, NULL, 0) &&
			  db->pq->single_row(db->conn);
	enum jl_status status = JL_OK;

	if (visit)
		return sent ? walk(db, visit, ctx, err) : fail(db, NULL, err);
	struct pg_result *res = answer(db, sent);
	int code = db->pq->result_status(res);
	if (code != PG_COMMAND_OK && code != PG_TUPLES_OK)
		status = fail(db, res, err);
	/* the server answers COMMIT of a failed transaction with ROLLBACK and reports success */
	else if (strcmp(sql, "COMMIT") == 0 && strcmp(db->pq->cmd_status(res), sql) != 0)
		status = jl_fail(err, JL_E_IO, "%s: the server rolled the results back", db->shown);
	else if (ret_n)
		*ret_n = strtoll(db->pq->cmd_tuples(res), NULL, 10);
	db->pq->clear(res);
	return status;
}

static enum jl_status ask_number(struct jl_store_db *db, const char *sql, long long *ret_value, struct jl_err *err)
{
	return jl_sql_number(&jl_store_postgres, db, sql, ret_value, err);
}

static enum jl_status read_version(struct jl_store_db *db, long long *ret_version, struct jl_err *err)
{
	long long exists = 0;
	enum jl_status status = ask_number(db, "SELECT (to_regclass('jeoul_meta') IS NOT NULL)::int", &exists, err);

	*ret_version = 0;
	if (!status && exists)
		status = ask_number(db, "SELECT max(version) FROM jeoul_meta", ret_version, err);
	return status ? status : jl_store_check_form(db->shown, *ret_version, exists ? 1 : 0, err);
}

static enum jl_status migrate(struct jl_store_db *db, struct jl_err *err)
{
	char sql[128];
	long long version = 0;
	/* one migration at a time; the key of the advisory lock is arbitrary but fixed */

	db->patience_ms = MIGRATE_MS;
	enum jl_status status = run(db, "BEGIN; SELECT pg_advisory_xact_lock(1785029493)", err);
	JL_THEN(status, read_version(db, &version, err));
	if (!status && version == 0)
		status = run(db, "CREATE TABLE jeoul_meta (version integer NOT NULL)", err);
	for (long long i = version; i < JL_STORE_SCHEMA && !status; i++) {
		status = run(db, steps[i], err);
		(void)snprintf(sql, sizeof(sql), "DELETE FROM jeoul_meta; INSERT INTO jeoul_meta VALUES (%lld)", i + 1);
		JL_THEN(status, run(db, sql, err));
	}
	JL_THEN(status, run(db, "COMMIT", err));
	if (status)
		(void)run(db, "ROLLBACK", NULL);
	db->patience_ms = JL_STORE_BUSY_MS;
	return status;
}

static enum jl_status prepare(struct jl_store_db *db, struct jl_err *err)
{
	long long version = 0;

	JL_TRY(run(db, "SET synchronous_commit = on; SET client_min_messages = warning", err));
	JL_TRY(read_version(db, &version, err));
	if (version < JL_STORE_SCHEMA)
		JL_TRY(migrate(db, err));
	return JL_OK;
}

static void close_db(struct jl_store_db *db)
{
	if (!db)
		return;
	if (db->conn)
		db->pq->finish(db->conn);
	jl_free(db->shown);
	jl_free(db->password);
	jl_free(db);
}

/* libpq prints notices to standard error by default. */
static void be_silent(void *ctx, const char *text)
{
	(void)ctx;
	(void)text;
}

static enum jl_status connect_db(struct jl_store_db *db, const char *url, struct jl_err *err)
{
	/* later parameters of the URL override these */
	const char *const keywords[] = { "connect_timeout", "tcp_user_timeout", "application_name",
					 "dbname",          "client_encoding",  NULL };
	const char *const values[] = { CONNECT_S, "10000", "jeoul", url, "UTF8", NULL };
	struct pg_option *options = NULL;
	const char *password;

	JL_TRY(parse_url(db->pq, url, &options, err));
	password = option(options, "password");
	if (!password)
		password = getenv("PGPASSWORD");
	if (password && *password)
		db->password = jl_store_copy(password);
	db->pq->free_options(options);
	db->conn = db->pq->connect(keywords, values, 1);
	JL_TRY(jl_got(db->conn, err));
	(void)db->pq->notice(db->conn, be_silent, NULL);
	if (db->pq->status(db->conn) != PG_CONNECTION_OK)
		return fail(db, NULL, err);
	if (db->pq->set_nonblocking(db->conn, 1) != 0)
		return jl_fail_nomem(err);
	return prepare(db, err);
}

static enum jl_status open_db(struct jl_store_db **ret_db, const struct jl_store_place *place, struct jl_err *err)
{
	struct jl_store_db *db = jl_realloc(NULL, sizeof(*db));

	JL_TRY(jl_got(db, err));
	*db = (struct jl_store_db){ .shown = jl_store_copy(place->shown), .patience_ms = JL_STORE_BUSY_MS };
	enum jl_status status = db->shown ? open_libpq(&db->pq, err) : jl_fail_nomem(err);
	JL_THEN(status, connect_db(db, place->target, err));
	if (status) {
		close_db(db);
		return status;
	}
	*ret_db = db;
	return JL_OK;
}

const struct jl_store_backend jl_store_postgres = {
	.name = "postgresql",
	.spools = true,
	.open = open_db,
	.close = close_db,
	.ask = ask,
	.table = "jeoul_record",
	.begin = "BEGIN",
	.bytewise = " COLLATE \"C\"",
};
