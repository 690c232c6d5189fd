/* Status codes and error messages.
 *
 * A function that can fail returns `enum jl_status` and takes `struct jl_err *err` last. Messages are written in English where the error occurs,
 * and stored in English (files, programs) and in the user's language. A message says what was wrong, where, and what would be right. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/msg.h"
#include "base/text.h"

enum jl_status {
	JL_OK = 0,
	JL_E_USAGE,     /* wrong use: unknown option, missing argument */
	JL_E_PARSE,     /* malformed text */
	JL_E_UNIT,      /* a quantity without a unit, or with a unit of another kind */
	JL_E_RANGE,     /* value outside its valid range */
	JL_E_NOTFOUND,  /* unknown name */
	JL_E_AMBIGUOUS, /* name that matches several things */
	JL_E_DATA,      /* contradiction in catalog or measurement data */
	JL_E_IO,
	JL_E_LIMIT, /* above a limit of the program */
	JL_E_NOMEM,
	JL_E_ABSENT /* optional part not built in, or not present on this machine */
};

#define JL_ERR_TEXT_MAX 640

struct jl_err {
	enum jl_status status;
	bool in_file; /* the error is in a file, not in the request */
	char en[JL_ERR_TEXT_MAX];
	char text[JL_ERR_TEXT_MAX]; /* in the user's language */
};

/* Position in a text: line and column from 1; 0: unknown, not printed. */
struct jl_where {
	const char *file;
	size_t line;
	size_t column;
};

/* Returns from the calling function when CALL fails. Only for places with nothing to release. */
#define JL_TRY(CALL)                                                                                                   \
	do {                                                                                                           \
		const enum jl_status jl_tried = (CALL);                                                                \
		if (jl_tried)                                                                                          \
			return jl_tried;                                                                               \
	} while (0)

/* Makes CALL only if STATUS is still JL_OK. For places with something to release at the end. */
#define JL_THEN(STATUS, CALL) ((STATUS) = (STATUS) ? (STATUS) : (CALL))

/* Fills `err` (may be NULL) and returns `status`: return jl_fail(err, ...); */
enum jl_status jl_fail(struct jl_err *err, enum jl_status status, const char *en, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with "file:line:column: " in front. */
enum jl_status jl_fail_at(struct jl_err *err, enum jl_status status, const struct jl_where *where, const char *en, ...)
	__attribute__((format(printf, 4, 5)));

/* The same, with the message of `inner` in place of {}. `where` may be NULL; `inner` may be `err`. */
enum jl_status jl_fail_from(struct jl_err *err, enum jl_status status, const struct jl_where *where,
			    const struct jl_err *inner, const char *en, ...) __attribute__((format(printf, 5, 6)));

/* Marks an error as lying in a file; returns `status`. Does nothing for JL_OK. */
enum jl_status jl_fail_in_file(struct jl_err *err, enum jl_status status);

/* True for errors of the caller's input (form, unit, range). False for errors in files, unknown names and run-time failures. */
bool jl_err_is_usage(const struct jl_err *err);

/* Needs no formatting and cannot fail. */
enum jl_status jl_fail_nomem(struct jl_err *err);
/* JL_E_NOMEM unless all pointers were allocated: JL_TRY(jl_got(rows && names, err)). */
static inline enum jl_status jl_got(bool all, struct jl_err *err)
{
	return all ? JL_OK : jl_fail_nomem(err);
}
