/* Interface of the database backends, SQLite and PostgreSQL. Private to src/facts/store. */
#pragma once

#include "store/store.h"

#define JL_STORE_SCHEMA   2 /* newest schema version; older databases are migrated when opened */
#define JL_STORE_BUSY_MS  10000
#define JL_STORE_FIND_MAX 3 /* ids returned by `find`: enough to report that a short id is ambiguous */

enum jl_store_missing { JL_STORE_MAKE, JL_STORE_EMPTY, JL_STORE_FAIL }; /* what to do if the file does not exist */

/* Location of a store. `shown` is safe for messages. */
struct jl_store_place {
	char *target; /* path, or the whole URL including its password */
	char *shown;
	char *spool;   /* file of unsent results; NULL: backend without spool */
	char *refused; /* file next to the spool for results refused by the server */
	enum jl_store_missing missing;
	bool named; /* named by the user, not the default in the data folder */
};

struct jl_store_db; /* defined by the backend */

struct jl_store_backend {
	const char *name;
	bool spools; /* may be unreachable: results wait in a spool */
	/* JL_E_IO: unreachable now. */
	enum jl_status (*open)(struct jl_store_db **ret_db, const struct jl_store_place *place, struct jl_err *err);
	void (*close)(struct jl_store_db *db);
	/* Executes one statement with `values` for $1, $2, ... (NULL: unused). Passes the first column of each row to `visit` (NULL: no rows
	 * expected). `ret_n` (may be NULL): changed rows. JL_E_DATA: refused, JL_E_IO: unreachable. */
	enum jl_status (*ask)(struct jl_store_db *db, const char *sql, const char *const *values, int n_values,
			      jl_store_visit *visit, void *ctx, long long *ret_n, struct jl_err *err);
	const char *table, *begin, *bytewise; /* SQL dialect: table name, BEGIN statement, bytewise collation */
};

extern const struct jl_store_backend jl_store_sqlite, jl_store_postgres;

/* place.c: parses a URL. */
enum jl_status jl_store_place_init(struct jl_store_place *ret_place, const struct jl_store_backend **ret_backend,
				   const char *url, struct jl_err *err);
void jl_store_place_release(struct jl_store_place *place);
char *jl_store_copy(const char *text); /* allocated with jl_realloc; NULL: out of memory */
enum jl_status jl_store_make_parents(const char *path, struct jl_err *err);
/* Checks a store's schema version: `least` to JL_STORE_SCHEMA. The value is untrusted, as any program may have written the file, and it selects
 * migration steps. */
enum jl_status jl_store_check_form(const char *shown, long long form, int least, struct jl_err *err);

/* postgres.c: "postgresql://lab@db.example/results" for display, from a URL or key=value pairs; allocated with jl_realloc. */
enum jl_status jl_store_postgres_shown(char **ret_shown, const char *url, struct jl_err *err);

/* sql.c: first number returned by a statement; 0: none. */
enum jl_status jl_sql_number(const struct jl_store_backend *backend, struct jl_store_db *db, const char *sql,
			     long long *ret_value, struct jl_err *err);

/* spool.c: results waiting for the server. */
enum jl_status jl_spool_add(const char *path, const char *lines, size_t len, struct jl_err *err);
enum jl_status jl_spool_count(const char *path, size_t *ret_n, struct jl_err *err);
/* `send` gets each line except '#' remarks; when all are sent and `commit` succeeds, the file is emptied unless `keep` is set by then. Invalid
 * lines go to PATH.bad. */
struct jl_spool_sink {
	const bool *keep; /* NULL: false */
	enum jl_status (*send)(void *ctx, const char *line, size_t len, struct jl_err *err);
	enum jl_status (*commit)(void *ctx, struct jl_err *err);
	void *ctx;
};
enum jl_status jl_spool_send(const char *path, const struct jl_spool_sink *sink, size_t *ret_n, struct jl_err *err);
