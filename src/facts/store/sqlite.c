/* SQLite backend: one file. Write-ahead log with full synchronisation: a commit is on disk when it returns. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sqlite3.h>

#include "base/budget.h"
#include "base/buf.h"
#include "base/mem.h"
#include "store/backend.h"
#include "base/dynlib.h"
#include "base/msg.h"
#include "base/text.h"
#include "base/err.h"

/* The functions of SQLite in use, opened with the first store: loading the library takes a tenth of the time of a prediction, which needs no store.
 */
#define JL_LIBSQLITE_FUNCTIONS(X)                                                                                      \
	X(bind_parameter_index)                                                                                        \
	X(bind_text)                                                                                                   \
	X(busy_timeout)                                                                                                \
	X(changes)                                                                                                     \
	X(close)                                                                                                       \
	X(column_bytes)                                                                                                \
	X(column_text)                                                                                                 \
	X(db_config)                                                                                                   \
	X(errmsg)                                                                                                      \
	X(errstr)                                                                                                      \
	X(exec)                                                                                                        \
	X(extended_result_codes)                                                                                       \
	X(finalize)                                                                                                    \
	X(get_autocommit)                                                                                              \
	X(limit)                                                                                                       \
	X(open_v2)                                                                                                     \
	X(progress_handler)                                                                                            \
	X(prepare_v2)                                                                                                  \
	X(step)                                                                                                        \
	X(system_errno)

#define JL_LIBSQLITE_MEMBER(NAME) __typeof__(sqlite3_##NAME) *NAME;
struct libsqlite {
	JL_LIBSQLITE_FUNCTIONS(JL_LIBSQLITE_MEMBER)
};

#define SYMBOL(NAME) { .name = "sqlite3_" #NAME, .offset = offsetof(struct libsqlite, NAME) },
static const struct jl_dynlib_symbol symbols[] = { JL_LIBSQLITE_FUNCTIONS(SYMBOL) };

static struct {
	struct jl_dynlib lib;
	struct libsqlite functions;
	struct jl_err why;
} opened;

static void open_library(void)
{
	static const char *const names[] = { "libsqlite3.so.0", "libsqlite3.so", NULL };

	(void)jl_dynlib_open(&opened.lib, "JEOUL_SQLITE", names, symbols, JL_LEN(symbols), &opened.functions,
			     &opened.why);
}

/* Opens the library once and keeps it; JL_E_ABSENT names its package. */
static enum jl_status open_libsqlite(const struct libsqlite **ret_sqlite, struct jl_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, open_library);
	if (!opened.lib.handle)
		return jl_fail_from(err, JL_E_ABSENT, NULL, &opened.why,
				    getenv("JEOUL_SQLITE")
					    ? JL_N("SQLite is not available: {}; JEOUL_SQLITE names it: unset it")
					    : JL_N("SQLite is not available: {}; install the package libsqlite3-0"));
	*ret_sqlite = &opened.functions;
	return JL_OK;
}

#define SCHEMA_MAX_B   ((size_t)1 << 20)
#define APPLICATION_ID 0x6a656f75 /* "jeou": identifies jeoul's files */

struct jl_store_db {
	const struct libsqlite *lib;
	sqlite3 *sq;
	char *shown;
};

/* Step i migrates version i to i + 1. Released steps are never edited. */
static const char *const steps[JL_STORE_SCHEMA] = {
	"CREATE TABLE record (id TEXT PRIMARY KEY NOT NULL, time_s REAL NOT NULL, kind TEXT NOT NULL, machine TEXT, "
	"run TEXT, body TEXT NOT NULL);CREATE INDEX record_time ON record (time_s, id);",

	"ALTER TABLE record ADD COLUMN origin TEXT;ALTER TABLE record ADD COLUMN backend TEXT;ALTER TABLE record ADD "
	"COLUMN machine_name TEXT;UPDATE record SET origin = json_extract(body, '$.origin'), backend = "
	"json_extract(body, '$.backend'), machine_name = json_extract(body, '$.machine_name');CREATE INDEX record_kind "
	"ON record (kind, time_s);CREATE INDEX record_run ON record (run);",
};

static enum jl_status fail(const struct jl_store_db *db, int code, struct jl_err *err)
{
	switch (code & 0xff) {
	case SQLITE_NOTADB:
		return jl_fail(err, JL_E_DATA, "%s: this is not an SQLite database; it was not touched", db->shown);
	case SQLITE_CORRUPT:
		return jl_fail(err, JL_E_DATA,
			       "%s: the database is damaged (%s); it was not touched. 'sqlite3 FILE .recover' saves "
			       "what is readable",
			       db->shown, db->lib->errmsg(db->sq));
	case SQLITE_BUSY:
		return jl_fail(err, JL_E_IO, "%s: another program has held the database for more than %d s", db->shown,
			       JL_STORE_BUSY_MS / 1000);
	case SQLITE_FULL: return jl_fail(err, JL_E_IO, "%s: the disk is full; nothing was stored", db->shown);
	case SQLITE_READONLY:
		return jl_fail(err, JL_E_IO, "%s: may be read, not written; nothing was stored", db->shown);
	case SQLITE_NOMEM: return jl_fail_nomem(err);
	case SQLITE_CANTOPEN:
		if (db->sq && db->lib->system_errno(db->sq))
			return jl_fail(err, JL_E_IO, "%s: cannot be opened: {%s}", db->shown,
				       strerror(db->lib->system_errno(db->sq)));
		return jl_fail(err, JL_E_IO, "%s: %s", db->shown, db->lib->errstr(code));
	default:
		return jl_fail(err, JL_E_IO, "%s: %s", db->shown,
			       db->sq ? db->lib->errmsg(db->sq) : db->lib->errstr(code));
	}
}

static enum jl_status run(struct jl_store_db *db, const char *sql, struct jl_err *err)
{
	int code = db->lib->exec(db->sq, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? JL_OK : fail(db, code, err);
}

static int bind(const struct jl_store_db *db, sqlite3_stmt *s, const char *const *values, int n)
{
	int code = SQLITE_OK;

	for (int i = 0; i < n && code == SQLITE_OK; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "$%d", i + 1);
		if (values[i])
			code = db->lib->bind_text(s, db->lib->bind_parameter_index(s, name), values[i], -1,
						  SQLITE_STATIC);
	}
	return code;
}

static enum jl_status ask(struct jl_store_db *db, const char *sql, const char *const *values, int n_values,
			  jl_store_visit *visit, void *ctx, long long *ret_n, struct jl_err *err)
{
	sqlite3_stmt *statement = NULL;
	enum jl_status status = JL_OK;
	int code = db->lib->prepare_v2(db->sq, sql, -1, &statement, NULL);

	if (code == SQLITE_OK)
		code = bind(db, statement, values, n_values);
	while (!status && (code == SQLITE_OK || code == SQLITE_ROW)) {
		code = db->lib->step(statement);
		if (code != SQLITE_ROW || !visit)
			break;
		const char *text = (const char *)db->lib->column_text(statement, 0);
		status = visit(ctx, text ? text : "", (size_t)db->lib->column_bytes(statement, 0), err);
	}
	db->lib->finalize(statement);
	if (!status && code != SQLITE_DONE && code != SQLITE_ROW)
		return fail(db, code, err);
	if (ret_n)
		*ret_n = db->lib->changes(db->sq);
	return status;
}

static enum jl_status ask_number(struct jl_store_db *db, const char *sql, long long *ret_value, struct jl_err *err)
{
	return jl_sql_number(&jl_store_sqlite, db, sql, ret_value, err);
}

/* A network file system cannot hold a write-ahead log for several hosts, because the log needs shared memory. */
static bool is_network_file_system(const char *path)
{
	static const unsigned long magics[] = {
		0x6969 /* NFS */,        0x517b /* SMB */,      0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */,
		0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */, 0x00c36400 /* Ceph */, 0x19830326 /* BeeGFS */,
		0x01021997 /* 9p */,     0x5346414f /* AFS */,
	};
	struct statfs info;

	if (statfs(path, &info) != 0)
		return false;
	for (size_t i = 0; i < JL_LEN(magics); i++)
		if (((unsigned long)info.f_type & 0xffffffffU) == magics[i])
			return true;
	return false;
}

/* Retries: two programs may create the same database concurrently, and the change of the journal mode does not wait by itself. */
static enum jl_status set_journal(struct jl_store_db *db, const char *path, struct jl_err *err)
{
	const char *sql = is_network_file_system(path) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL";
	int code = SQLITE_BUSY;

	for (int i = 0; i < JL_STORE_BUSY_MS / 20; i++) {
		code = db->lib->exec(db->sq, sql, NULL, NULL, NULL);
		if (code != SQLITE_BUSY)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	return code == SQLITE_OK ? JL_OK : fail(db, code, err);
}

/* Schema of a database file: names and definitions, without white space, sorted. */
static const char schema_sql[] =
	"SELECT group_concat(t, ';') FROM (SELECT type || ' ' || name || ' ' || tbl_name || ' ' || "
	"replace(replace(replace(coalesce(sql, ''), ' ', ''), char(10), ''), '\"', '') AS t FROM sqlite_master WHERE "
	"name "
	"NOT IN ('sqlite_stat1', 'sqlite_stat4') ORDER BY name)";

static enum jl_status copy_text(void *ctx, const char *text, size_t len, struct jl_err *err)
{
	jl_buf_add(ctx, text, len);
	return ((struct jl_buf *)ctx)->failed ? jl_fail_nomem(err) : JL_OK;
}

/* Refuses unknown tables, indexes and expressions: generated columns, CHECKs and indexes in a foreign file would be executed by our statements. The
 * reference schema is read from a new database of the same version. */
static enum jl_status check_schema(struct jl_store_db *db, long long version, struct jl_err *err)
{
	struct jl_store_db made = { .lib = db->lib, .shown = db->shown };
	struct jl_buf theirs, ours;
	enum jl_status status;
	int code = db->lib->open_v2(":memory:", &made.sq, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	jl_buf_init(&theirs, SCHEMA_MAX_B);
	jl_buf_init(&ours, SCHEMA_MAX_B);
	status = code == SQLITE_OK ? JL_OK : fail(&made, code, err);
	for (long long i = 0; i < version && i < JL_STORE_SCHEMA && !status; i++)
		status = run(&made, steps[i], err);
	JL_THEN(status, ask(&made, schema_sql, NULL, 0, copy_text, &ours, NULL, err));
	JL_THEN(status, ask(db, schema_sql, NULL, 0, copy_text, &theirs, NULL, err));
	if (theirs.failed || (!status && strcmp(jl_buf_text(&ours), jl_buf_text(&theirs)) != 0))
		status = jl_fail(err, JL_E_DATA,
				 "%s: it has tables, indexes or other parts that are not jeoul's; it was not touched",
				 db->shown);
	db->lib->close(made.sq);
	jl_buf_release(&theirs);
	jl_buf_release(&ours);
	return status;
}

static enum jl_status check_owner(struct jl_store_db *db, long long version, struct jl_err *err)
{
	long long application = 0, n_tables = 0;
	enum jl_status status = ask_number(db, "PRAGMA application_id", &application, err);

	JL_THEN(status, ask_number(db, "SELECT count(*) FROM sqlite_master", &n_tables, err));
	if (status)
		return status;
	if (application != APPLICATION_ID && (application || n_tables || version))
		return jl_fail(err, JL_E_DATA, "%s: an SQLite database of another program; it was not touched",
			       db->shown);
	JL_TRY(jl_store_check_form(db->shown, version, n_tables ? 1 : 0, err));
	return check_schema(db, version, err);
}

/* All steps in one transaction: a database is never between two versions. */
static enum jl_status migrate(struct jl_store_db *db, struct jl_err *err)
{
	char sql[96];
	long long version = 0;

	JL_TRY(run(db, "BEGIN IMMEDIATE", err));
	/* read again under the lock */
	enum jl_status status = ask_number(db, "PRAGMA user_version", &version, err);
	JL_THEN(status, check_owner(db, version, err));
	for (long long i = version; i < JL_STORE_SCHEMA && !status; i++)
		status = run(db, steps[i], err);
	(void)snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
		       JL_STORE_SCHEMA);
	if (!status && version < JL_STORE_SCHEMA)
		status = run(db, sql, err);
	JL_THEN(status, run(db, "COMMIT", err));
	if (status)
		(void)run(db, "ROLLBACK", NULL);
	return status;
}

/* Progress handler, every 10,000 virtual machine steps; true aborts the statement. */
static int spend(void *ctx)
{
	(void)ctx;
	return jl_budget_spend(500);
}

static enum jl_status prepare(struct jl_store_db *db, const char *path, struct jl_err *err)
{
	long long version = 0;

	db->lib->extended_result_codes(db->sq, 1);
	db->lib->busy_timeout(db->sq, JL_STORE_BUSY_MS);
	/* the file is untrusted: its schema must not call application functions or change settings */
	db->lib->db_config(db->sq, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	db->lib->db_config(db->sq, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	db->lib->progress_handler(db->sq, 10000, spend, NULL);
	db->lib->limit(db->sq, SQLITE_LIMIT_LENGTH, (int)JL_RECORD_TEXT_MAX_B + 4096);
	enum jl_status status = run(db, "PRAGMA synchronous = FULL", err);
	/* in one transaction, because another process may create the tables between two queries */
	JL_THEN(status, run(db, "BEGIN", err));
	JL_THEN(status, ask_number(db, "PRAGMA user_version", &version, err));
	JL_THEN(status, check_owner(db, version, err));
	if (db->lib->get_autocommit(db->sq) == 0)
		(void)run(db, "ROLLBACK", NULL); /* nothing was written */
	if (status || version == JL_STORE_SCHEMA)
		return status;
	if (version == 0)
		status = set_journal(db, path, err);
	JL_THEN(status, migrate(db, err));
	return status;
}

static void close_db(struct jl_store_db *db)
{
	if (!db)
		return;
	db->lib->close(db->sq);
	jl_free(db->shown);
	jl_free(db);
}

/* Opens a read-only file in a read-only folder, where no write-ahead log can be created, as immutable. Not if a log exists: then a writer is
 * active, or the last commit is not in the file yet. */
static int open_unchanging(struct jl_store_db *db, const char *path)
{
	struct stat info;
	struct jl_buf url;
	int code = SQLITE_CANTOPEN;

	jl_buf_init(&url, 3 * PATH_MAX + 64);
	jl_buf_printf(&url, "%s-wal", path);
	if (stat(jl_buf_text(&url), &info) != 0 || info.st_size == 0) {
		jl_buf_reset(&url);
		jl_buf_puts(&url, "file:");
		for (const char *at = path; *at; at++)
			jl_buf_printf(&url, strchr("%?#", *at) ? "%%%02X" : "%c", (unsigned char)*at);
		jl_buf_puts(&url, "?immutable=1");
		if (!url.failed)
			code = db->lib->open_v2(jl_buf_text(&url), &db->sq, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
						NULL);
	}
	jl_buf_release(&url);
	return code;
}

/* True if the file is readable but the file or its folder is not writable. */
static bool is_only_readable(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	(void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return access(path, R_OK) == 0 && (access(path, W_OK) != 0 || access(*folder ? folder : "/", W_OK) != 0);
}

/* True if the file is not an SQLite database; SQLite would take a file of one byte for an empty one. */
static bool is_other_file(const char *path)
{
	static const char head[] = "SQLite format 3";
	char begin[sizeof(head)] = "";
	FILE *file = fopen(path, "re");
	const size_t n = file ? fread(begin, 1, sizeof(begin), file) : 0;

	if (file)
		(void)fclose(file);
	return n > 0 && (n < sizeof(begin) || memcmp(begin, head, sizeof(head)) != 0);
}

static enum jl_status open_db(struct jl_store_db **ret_db, const struct jl_store_place *place, struct jl_err *err)
{
	const int flags = SQLITE_OPEN_READWRITE | (place->missing == JL_STORE_FAIL ? 0 : SQLITE_OPEN_CREATE);
	const char *path = place->target;
	const struct libsqlite *lib = NULL;
	struct jl_store_db *db;
	struct stat info;
	enum jl_status status = JL_OK;

	if (stat(place->target, &info) == 0 && S_ISDIR(info.st_mode))
		return jl_fail(err, JL_E_IO, "%s: a folder; a store is a file in it", place->shown);
	if (stat(place->target, &info) == 0 && !S_ISREG(info.st_mode))
		return jl_fail(err, JL_E_USAGE, "%s: no plain file; a store is one", place->shown);
	if (is_other_file(place->target))
		return jl_fail(err, JL_E_DATA, "%s: this is not an SQLite database; it was not touched", place->shown);
	if (place->missing == JL_STORE_FAIL && stat(path, &info) != 0)
		return errno == ENOENT
			       ? jl_fail(err, JL_E_NOTFOUND,
					 "%s: there is no such store; 'jeoul bench all --quick' and 'jeoul "
					 "import' make one",
					 place->shown)
			       : jl_fail(err, JL_E_IO, "%s: cannot be opened: {%s}", place->shown, strerror(errno));
	if (place->missing == JL_STORE_EMPTY && stat(path, &info) != 0 && errno == ENOENT)
		path = ":memory:";
	JL_TRY(open_libsqlite(&lib, err));
	if (place->missing == JL_STORE_MAKE)
		JL_TRY(jl_store_make_parents(path, err));
	db = jl_realloc(NULL, sizeof(*db));
	JL_TRY(jl_got(db, err));
	*db = (struct jl_store_db){ .lib = lib, .shown = jl_store_copy(place->shown) };
	if (!db->shown) {
		jl_free(db);
		return jl_fail_nomem(err);
	}
	int code = db->lib->open_v2(path, &db->sq, flags, NULL);
	status = code == SQLITE_OK ? prepare(db, path, err) : fail(db, code, err);
	if (status == JL_E_IO && is_only_readable(place->target)) {
		db->lib->close(db->sq);
		db->sq = NULL;
		code = open_unchanging(db, place->target);
		status = code == SQLITE_OK ? prepare(db, place->target, err) : fail(db, code, err);
	}
	if (status) {
		close_db(db);
		return status;
	}
	*ret_db = db;
	return JL_OK;
}

const struct jl_store_backend jl_store_sqlite = {
	.name = "sqlite",
	.open = open_db,
	.close = close_db,
	.ask = ask,
	.table = "record",
	.begin = "BEGIN IMMEDIATE",
	.bytewise = "",
};
