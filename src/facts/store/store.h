/* Store of measurements: an SQLite file, or a team's PostgreSQL server.
 *
 *     status = jl_store_open(&store, NULL, &err);        JEOUL_STORE, else $XDG_DATA_HOME/jeoul/jeoul.db
 *     status = jl_store_put(store, &record, NULL, &err); JL_OK: it is on the disk
 *     jl_store_close(store);
 *
 * An acknowledged result survives kill -9 and a power cut. If the server is unreachable, results go to a spool (JSON Lines next to the local
 * database) and are sent when the store is next opened; they count as acknowledged. Results that a server refuses (too long, wrong encoding, no
 * write permission) are stored in a file with the reason, reported as not stored, and offered again at every opening. Messages never contain
 * passwords. One handle per thread; any number of processes may use one store concurrently. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "record/record.h"

#define JL_STORE_LIST_MAX 100000 /* maximum number of records per jl_store_list */

struct jl_store;

/* `url`: a path, sqlite:PATH, postgresql://USER@HOST/DB; NULL or "": from the environment. Creates a missing database; refuses one that is damaged,
 * newer than this program, or of another program, without changing it. An unreachable server is not an error here. */
enum jl_status jl_store_open(struct jl_store **ret_store, const char *url, struct jl_err *err);
/* Opens for reading; creates nothing. Without a name, a missing file is an empty store; a named file must exist. */
enum jl_status jl_store_open_to_read(struct jl_store **ret_store, const char *url, struct jl_err *err);
/* Opens the source of a merge or a report: the file must exist. */
enum jl_status jl_store_open_existing(struct jl_store **ret_store, const char *url, struct jl_err *err);
/* Folders that opening the store needs, for sandboxing; NULL: none. The caller frees each (jl_free). */
struct jl_store_folders {
	char *of_store, *own; /* folder of the file or spool; folder of the user's other data */
	bool on_server;
};
void jl_store_folders(struct jl_store_folders *ret_folders, const char *url);
void jl_store_close(struct jl_store *store); /* NULL is allowed */

const char *jl_store_where(const struct jl_store *store); /* for display, without password */
size_t jl_store_waiting(const struct jl_store *store);    /* number of results in the spool */
size_t jl_store_sent(const struct jl_store *store);       /* number of results sent when the store was opened */
/* NULL: connected. Otherwise the reason why the server is unreachable; storing still works. */
const struct jl_err *jl_store_offline(const struct jl_store *store);

/* Number of results refused by the server, their file, and the reason of the last one (NULL: not offered this time). */
size_t jl_store_refused(const struct jl_store *store, const char **ret_file, const struct jl_err **ret_why);

enum jl_store_kept {
	JL_STORE_NEW,
	JL_STORE_KNOWN,   /* the id exists already; nothing changed */
	JL_STORE_SPOOLED, /* server unreachable: spooled, sent later */
	JL_STORE_REFUSED, /* refused by the server: set aside with the reason */
	JL_N_STORE_KEPT
};

/* Number of results by outcome since the store was opened. Results of a batch count when it ends, because the server may disconnect before. */
struct jl_store_taken {
	size_t n[JL_N_STORE_KEPT];
};
struct jl_store_taken jl_store_taken(const struct jl_store *store);

/* Validates the record first (jl_record_check). JL_OK: durable. `ret_kept` may be NULL. */
enum jl_status jl_store_put(struct jl_store *store, const struct jl_record *record, enum jl_store_kept *ret_kept,
			    struct jl_err *err);

/* A batch is one transaction: much faster than single puts; acknowledged when `end` returns JL_OK. */
enum jl_status jl_store_begin(struct jl_store *store, struct jl_err *err);
enum jl_status jl_store_end(struct jl_store *store, struct jl_err *err);
void jl_store_abandon(struct jl_store *store); /* discards the batch */

/* Stores one JSON line byte for byte, so that keys of newer versions survive. */
enum jl_status jl_store_put_line(struct jl_store *store, const char *line, size_t len, enum jl_store_kept *ret_kept,
				 struct jl_err *err);

/* All members are optional; zeroed: all records, newest first. */
struct jl_store_filter {
	const char *kind, *machine, *run, *origin, *backend; /* machine: fingerprint or name */
	double since_s;                                      /* 0: no lower bound */
	size_t limit;                                        /* 0: all */
	bool oldest_first;
};

/* `id` may be abbreviated: its beginning or end, at least 4 characters, if unique. */
enum jl_status jl_store_get(struct jl_store *store, const char *id, struct jl_arena *arena,
			    struct jl_record *ret_record, struct jl_err *err);
enum jl_status jl_store_list(struct jl_store *store, const struct jl_store_filter *filter, struct jl_arena *arena,
			     const struct jl_record **ret_records, size_t *ret_n, struct jl_err *err);
enum jl_status jl_store_count(struct jl_store *store, size_t *ret_n, struct jl_err *err);

/* Passes each matching record as its stored line, one at a time, for export. Any status other than JL_OK from `visit` ends it. Invalid rows (a
 * damaged or edited file) are skipped and counted. */
typedef enum jl_status jl_store_visit(void *ctx, const char *line, size_t len, struct jl_err *err);
enum jl_status jl_store_each(struct jl_store *store, const struct jl_store_filter *filter, jl_store_visit *visit,
			     void *ctx, struct jl_err *err);

/* Number of rows skipped so far; id and error of the first. */
size_t jl_store_damaged(const struct jl_store *store, const char **ret_id, const struct jl_err **ret_why);

enum jl_status jl_store_delete(struct jl_store *store, const char *id, struct jl_err *err);
enum jl_status jl_store_note(struct jl_store *store, const char *id, const char *note,
			     struct jl_err *err); /* NULL: none */

/* Copies records of `from` that `into` lacks; see jl_store_taken(into) for their number. */
enum jl_status jl_store_merge(struct jl_store *into, struct jl_store *from, struct jl_err *err);
