/* Queries to a source and their answers, and their text format. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum jl_asked_kind { JL_ANSWER_NONE, JL_ANSWER_FILE, JL_ANSWER_LIST, JL_ANSWER_LINK };

struct jl_asked_path {
	const char *path;
	enum jl_asked_kind kind; /* a path may be both a link and a file: separate records */
	const char *text;        /* NULL: does not exist */
};

struct jl_records {
	struct jl_arena *arena;
	struct jl_asked_path *items; /* sorted by (path, kind) */
	size_t n, room;
};

/* NULL: not queried before. */
const struct jl_asked_path *jl_records_find(const struct jl_records *records, const char *path,
					    enum jl_asked_kind kind);
/* Stores copies. JL_E_LIMIT above JL_SOURCE_RECORDS_MAX. */
enum jl_status jl_records_add(struct jl_records *records, const char *path, enum jl_asked_kind kind, const char *text,
			      struct jl_err *err);

void jl_records_write(const struct jl_records *records, struct jl_buf *out);
enum jl_status jl_records_parse(struct jl_records *records, const char *name, const char *text, size_t len,
				struct jl_err *err);

/* Removes identifying data from a capture: hardware addresses, UUIDs, container names, boot options. Host names and serial numbers are never read.
 * `ret_out` uses the arena of `records`. */
enum jl_status jl_redact(const struct jl_records *records, struct jl_records *ret_out, struct jl_err *err);
