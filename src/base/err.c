/* Builds error messages in English and in the user's language. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static size_t print_where(char *out, const struct jl_where *where)
{
	int n = 0;

	if (!where || !where->file)
		return 0;
	if (where->line && where->column)
		n = snprintf(out, JL_ERR_TEXT_MAX, "%s:%zu:%zu: ", where->file, where->line, where->column);
	else if (where->line)
		n = snprintf(out, JL_ERR_TEXT_MAX, "%s:%zu: ", where->file, where->line);
	else
		n = snprintf(out, JL_ERR_TEXT_MAX, "%s: ", where->file);
	if (n < 0)
		return 0;
	return (size_t)n < JL_ERR_TEXT_MAX ? (size_t)n : JL_ERR_TEXT_MAX - 1;
}

/* Quoted text may contain line breaks: replace them by blanks. */
static void one_line(char *text)
{
	jl_utf8_sanitize(text);
	for (char *at = strpbrk(text, "\n\t"); at; at = strpbrk(at, "\n\t"))
		*at = ' ';
}

static void fill(struct jl_err *err, enum jl_status status, const struct jl_where *where, const struct jl_err *inner,
		 const char *en, va_list args) __attribute__((format(printf, 5, 0)));

static void fill(struct jl_err *err, enum jl_status status, const struct jl_where *where, const struct jl_err *inner,
		 const char *en, va_list args)
{
	/* The arguments may point into the old message (a caller that adds context), so build the new one separately. */
	struct jl_err built = { .status = status, .in_file = (where && where->file) || (inner && inner->in_file) };
	const size_t at = print_where(built.en, where);

	memcpy(built.text, built.en, at);
	jl_msg_vprint_inner(built.en + at, built.text + at, JL_ERR_TEXT_MAX - at, inner ? inner->en : NULL,
			    inner ? inner->text : NULL, en, args);
	/* truncate at a character boundary and remove control characters, which input files may contain */
	one_line(built.en);
	one_line(built.text);
	*err = built;
}

enum jl_status jl_fail(struct jl_err *err, enum jl_status status, const char *en, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, en);
	fill(err, status, NULL, NULL, en, args);
	va_end(args);
	return status;
}

enum jl_status jl_fail_at(struct jl_err *err, enum jl_status status, const struct jl_where *where, const char *en, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, en);
	fill(err, status, where, NULL, en, args);
	va_end(args);
	return status;
}

enum jl_status jl_fail_from(struct jl_err *err, enum jl_status status, const struct jl_where *where,
			    const struct jl_err *inner, const char *en, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, en);
	fill(err, status, where, inner, en, args);
	va_end(args);
	return status;
}

enum jl_status jl_fail_in_file(struct jl_err *err, enum jl_status status)
{
	if (err && status)
		err->in_file = true;
	return status;
}

bool jl_err_is_usage(const struct jl_err *err)
{
	switch (err->status) {
	case JL_E_USAGE:
	case JL_E_PARSE:
	case JL_E_UNIT:
	case JL_E_RANGE: return !err->in_file;
	default: return false;
	}
}

enum jl_status jl_fail_nomem(struct jl_err *err)
{
	if (err) {
		err->status = JL_E_NOMEM;
		err->in_file = false;
		snprintf(err->en, sizeof(err->en), "out of memory");
		snprintf(err->text, sizeof(err->text), "%s", JL_("out of memory"));
	}
	return JL_E_NOMEM;
}
