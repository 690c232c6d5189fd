/* What keeps the rows: one const struct for SQLite, one for PostgreSQL. Private to src/store. */
#pragma once

#include "store/store.h"

#define JL_STORE_SCHEMA   2 /* newest form of the tables; older ones are brought up to it when opened */
#define JL_STORE_BUSY_MS  10000
#define JL_STORE_FIND_MAX 3 /* how many ids `find` hands over: enough to say that a short one is not unique */

enum jl_store_missing { JL_STORE_MAKE, JL_STORE_EMPTY, JL_STORE_FAIL }; /* what is done where there is no file */

/* Where a store is. `shown` is what messages may say. */
struct jl_store_place {
	char *target; /* path, or the whole URL with its password */
	char *shown;
	char *spool;   /* NULL: this kind needs none */
	char *refused; /* beside the spool: what the server would not take */
	enum jl_store_missing missing;
	bool named; /* by the caller: not the one in the data folder */
};

struct jl_store_db; /* the backend's own */

struct jl_store_backend {
	const char *name;
	bool spools; /* may be out of reach: results wait in a spool */
	/* JL_E_IO: cannot be reached now. */
	enum jl_status (*open)(struct jl_store_db **ret_db, const struct jl_store_place *place, struct jl_err *err);
	void (*close)(struct jl_store_db *db);
	/* One statement; $1, $2, ... are `values` (NULL: none of it). Each row's first column goes to `visit`, in order (NULL: no rows are
	 * asked for). `ret_n` (may be NULL): how many rows were changed. JL_E_DATA: refused, JL_E_IO: out of reach. */
	enum jl_status (*ask)(struct jl_store_db *db, const char *sql, const char *const *values, int n_values,
			      jl_store_visit *visit, void *ctx, long long *ret_n, struct jl_err *err);
	const char *table, *begin, *bytewise; /* where rows are, how a transaction begins, how ids are ordered */
};

extern const struct jl_store_backend jl_store_sqlite, jl_store_postgres;

/* place.c: what a URL means. */
enum jl_status jl_store_place_init(struct jl_store_place *ret_place, const struct jl_store_backend **ret_backend,
				   const char *url, struct jl_err *err);
void jl_store_place_release(struct jl_store_place *place);
char *jl_store_copy(const char *text); /* allocated with jl_realloc; NULL: no memory */
enum jl_status jl_store_make_parents(const char *path, struct jl_err *err);
/* The form that a store says it has: one that this program knows, `least` to JL_STORE_SCHEMA. It is read from a file or a server that
 * anybody may have written, and steps are taken by it. */
enum jl_status jl_store_check_form(const char *shown, long long form, int least, struct jl_err *err);

/* postgres.c: "postgresql://lab@db.example/results" of a URL or of key=value pairs, for people; allocated with jl_realloc. */
enum jl_status jl_store_postgres_shown(char **ret_shown, const char *url, struct jl_err *err);

/* sql.c: the first number that a statement says; 0: none. */
enum jl_status jl_sql_number(const struct jl_store_backend *backend, struct jl_store_db *db, const char *sql,
			     long long *ret_value, struct jl_err *err);

/* spool.c: results that wait for the server. */
enum jl_status jl_spool_add(const char *path, const char *lines, size_t len, struct jl_err *err);
enum jl_status jl_spool_count(const char *path, size_t *ret_n, struct jl_err *err);
/* `send` gets each line that is no '#' remark; when all were taken and `commit` says so, the file is emptied unless `keep` is set by
 * then. Lines that are no records go to PATH.bad. */
struct jl_spool_sink {
	const bool *keep; /* NULL: false */
	enum jl_status (*send)(void *ctx, const char *line, size_t len, struct jl_err *err);
	enum jl_status (*commit)(void *ctx, struct jl_err *err);
	void *ctx;
};
enum jl_status jl_spool_send(const char *path, const struct jl_spool_sink *sink, size_t *ret_n, struct jl_err *err);
