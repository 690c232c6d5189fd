/* Status codes and error messages.
 *
 * A function that can fail returns `enum jl_status` and takes `struct jl_err *err` last. The message is written in English
 * at the place where it happens; it is kept in English, for files and programs, and in the reader's language.
 * Messages say what was wrong, where, and what would be right. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/msg.h"
#include "base/text.h"

enum jl_status {
	JL_OK = 0,
	JL_E_USAGE,     /* the caller's words: wrong option, missing argument */
	JL_E_PARSE,     /* text that does not have the form it should have */
	JL_E_UNIT,      /* a quantity with no unit, or with one of another kind */
	JL_E_RANGE,     /* a value outside what makes sense */
	JL_E_NOTFOUND,  /* an unknown name */
	JL_E_AMBIGUOUS, /* a name that fits several */
	JL_E_DATA,      /* catalog or measurement data that contradicts itself */
	JL_E_IO,
	JL_E_LIMIT, /* larger than we accept */
	JL_E_NOMEM,
	JL_E_ABSENT /* a part that was not built or is not on this machine */
};

#define JL_ERR_TEXT_MAX 640

struct jl_err {
	enum jl_status status;
	bool in_file; /* the error is in a file, not in the request */
	char en[JL_ERR_TEXT_MAX];
	char text[JL_ERR_TEXT_MAX]; /* as a person reads it */
};

/* Where in a text: line and column count from 1; 0 means "not known" and is not printed. */
struct jl_where {
	const char *file;
	size_t line;
	size_t column;
};

/* A call whose failure is the function's own, where nothing is left to release. */
#define JL_TRY(CALL)                                                                                                   \
	do {                                                                                                           \
		const enum jl_status jl_tried = (CALL);                                                                \
		if (jl_tried)                                                                                          \
			return jl_tried;                                                                               \
	} while (0)

/* The next of several calls, made only where those before it were fine: something is released behind them in any case. */
#define JL_THEN(STATUS, CALL) ((STATUS) = (STATUS) ? (STATUS) : (CALL))

/* Fill `err` (which may be NULL) and return `status`, so that callers write `return jl_fail(err, ...)`. */
enum jl_status jl_fail(struct jl_err *err, enum jl_status status, const char *en, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with "file:line:column: " in front. */
enum jl_status jl_fail_at(struct jl_err *err, enum jl_status status, const struct jl_where *where, const char *en, ...)
	__attribute__((format(printf, 4, 5)));

/* The same around what went wrong inside, which stands for {} in the message; `where` may be NULL, `inner` may be `err`. */
enum jl_status jl_fail_from(struct jl_err *err, enum jl_status status, const struct jl_where *where,
			    const struct jl_err *inner, const char *en, ...) __attribute__((format(printf, 5, 6)));

/* Says of a failure, where there is one, that it lies in a file; returns `status`. */
enum jl_status jl_fail_in_file(struct jl_err *err, enum jl_status status);

/* True for a caller's error: text of the wrong form, unit or range. False for errors in files, unknown names and failures at run time. */
bool jl_err_is_usage(const struct jl_err *err);

/* Out of memory: needs no formatting, cannot fail itself. */
enum jl_status jl_fail_nomem(struct jl_err *err);
/* The same where something was not got: JL_TRY(jl_got(rows && names, err)). */
static inline enum jl_status jl_got(bool all, struct jl_err *err)
{
	return all ? JL_OK : jl_fail_nomem(err);
}
