/* Where measured facts are kept: an SQLite file, or a team's PostgreSQL server.
 *
 *     status = jl_store_open(&store, NULL, &err);        JEOUL_STORE, else $XDG_DATA_HOME/jeoul/jeoul.db
 *     status = jl_store_put(store, &record, NULL, &err); JL_OK: it is on the disk
 *     jl_store_close(store);
 *
 * A result that is acknowledged survives kill -9 and a power cut. Where the server cannot be reached, results go to a
 * spool (JSON Lines beside the local database) and are sent when the store is opened next; they count as acknowledged
 * too. What a server is there but will not take (too long, not its encoding, no right to write) is set aside in a file
 * with the reason, is no success, and is offered again at every opening. Passwords never reach a message. One handle serves one thread; any number of processes may use one store at the
 * same time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "record/record.h"

#define JL_STORE_LIST_MAX 100000 /* records that jl_store_list hands over at once */

struct jl_store;

/* `url`: a path, sqlite:PATH, postgresql://USER@HOST/DB; NULL or "": from the environment. A database that is missing is made; one that is
 * damaged, newer than this program or of another program is refused and not touched. An unreachable server is no error here. */
enum jl_status jl_store_open(struct jl_store **ret_store, const char *url, struct jl_err *err);
/* The same to look at: nothing is made. Without a name, a missing file is an empty store; a named file that is missing is an error. */
enum jl_status jl_store_open_to_read(struct jl_store **ret_store, const char *url, struct jl_err *err);
/* The same for taking from: a file that is not there is an error. */
enum jl_status jl_store_open_existing(struct jl_store **ret_store, const char *url, struct jl_err *err);
/* Folders that opening it may need, for who confines a process: NULL where there is none. Each is the caller's to free (jl_free). */
struct jl_store_folders {
	char *of_store, *own; /* of the file or the spool; of what else is kept for this person */
	bool on_server;
};
void jl_store_folders(struct jl_store_folders *ret_folders, const char *url);
void jl_store_close(struct jl_store *store); /* NULL is fine */

const char *jl_store_where(const struct jl_store *store); /* for people; without password */
size_t jl_store_waiting(const struct jl_store *store);    /* results in the spool */
size_t jl_store_sent(const struct jl_store *store);       /* ... that were sent when it was opened */
/* NULL: connected. Otherwise why the server cannot be reached; putting still works. */
const struct jl_err *jl_store_offline(const struct jl_store *store);

/* Results that the server refuses; where they are and why the last one (NULL: not asked this time). */
size_t jl_store_refused(const struct jl_store *store, const char **ret_file, const struct jl_err **ret_why);

enum jl_store_kept {
	JL_STORE_NEW,
	JL_STORE_KNOWN,   /* its id was there already; nothing was changed */
	JL_STORE_SPOOLED, /* the server was not there: kept beside, sent later */
	JL_STORE_REFUSED, /* the server will not have it: set aside with the reason */
	JL_N_STORE_KEPT
};

/* How many results went which way since the store was opened. Those of a batch only count once it has ended: the server may go away
 * before it takes them. */
struct jl_store_taken {
	size_t n[JL_N_STORE_KEPT];
};
struct jl_store_taken jl_store_taken(const struct jl_store *store);

/* The record is checked first (jl_record_check). JL_OK means durable. `ret_kept` may be NULL. */
enum jl_status jl_store_put(struct jl_store *store, const struct jl_record *record, enum jl_store_kept *ret_kept,
			    struct jl_err *err);

/* A batch is one transaction: much faster than single puts, nothing is acknowledged before `end` returns JL_OK. */
enum jl_status jl_store_begin(struct jl_store *store, struct jl_err *err);
enum jl_status jl_store_end(struct jl_store *store, struct jl_err *err);
void jl_store_abandon(struct jl_store *store); /* nothing of the batch is kept */

/* One line of JSON from another writer; kept byte for byte, so that keys of a newer version survive. */
enum jl_status jl_store_put_line(struct jl_store *store, const char *line, size_t len, enum jl_store_kept *ret_kept,
				 struct jl_err *err);

/* Everything is optional; zeroed: all records, newest first. */
struct jl_store_filter {
	const char *kind, *machine, *run, *origin, *backend; /* machine: fingerprint or name */
	double since_s;                                      /* 0: from the beginning */
	size_t limit;                                        /* 0: all */
	bool oldest_first;
};

/* `id` may be shortened: the beginning or the end of one, at least 4 characters, if only one record fits. */
enum jl_status jl_store_get(struct jl_store *store, const char *id, struct jl_arena *arena,
			    struct jl_record *ret_record, struct jl_err *err);
enum jl_status jl_store_list(struct jl_store *store, const struct jl_store_filter *filter, struct jl_arena *arena,
			     const struct jl_record **ret_records, size_t *ret_n, struct jl_err *err);
enum jl_status jl_store_count(struct jl_store *store, size_t *ret_n, struct jl_err *err);

/* Every record that fits as the line it was stored as, one at a time: for export. What `visit` returns other than JL_OK
 * ends it. A row that is no record (a damaged file, another hand) is passed over and counted. */
typedef enum jl_status jl_store_visit(void *ctx, const char *line, size_t len, struct jl_err *err);
enum jl_status jl_store_each(struct jl_store *store, const struct jl_store_filter *filter, jl_store_visit *visit,
			     void *ctx, struct jl_err *err);

/* How many rows were passed over so far; the id of the first and what is wrong with it. */
size_t jl_store_damaged(const struct jl_store *store, const char **ret_id, const struct jl_err **ret_why);

enum jl_status jl_store_delete(struct jl_store *store, const char *id, struct jl_err *err);
enum jl_status jl_store_note(struct jl_store *store, const char *id, const char *note,
			     struct jl_err *err); /* NULL: none */

/* Everything of `from` that `into` does not have yet; jl_store_taken(into) says how much. */
enum jl_status jl_store_merge(struct jl_store *into, struct jl_store *from, struct jl_err *err);
