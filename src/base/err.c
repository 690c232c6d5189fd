#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Both texts are cut at a character boundary, and control characters of hostile input never reach a terminal. */
static void finish(char *text)
{
	jl_utf8_sanitize(text);
}

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

static void fill(struct jl_err *err, enum jl_status status, const struct jl_where *where, const char *en,
		 const char *ko, va_list args) __attribute__((format(printf, 4, 0), format(printf, 5, 0)));

static void fill(struct jl_err *err, enum jl_status status, const struct jl_where *where, const char *en,
		 const char *ko, va_list args)
{
	va_list again;
	size_t at;

	/* Arguments may point into the old message (a caller that adds context), so build beside it. */
	struct jl_err built = { .status = status, .in_file = where && where->file };
	va_copy(again, args);
	at = print_where(built.en, where);
	vsnprintf(built.en + at, JL_ERR_TEXT_MAX - at, en, args);
	at = print_where(built.ko, where);
	vsnprintf(built.ko + at, JL_ERR_TEXT_MAX - at, ko, again);
	va_end(again);
	finish(built.en);
	finish(built.ko);
	*err = built;
}

enum jl_status jl_fail(struct jl_err *err, enum jl_status status, const char *en, const char *ko, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, ko);
	fill(err, status, NULL, en, ko, args);
	va_end(args);
	return status;
}

enum jl_status jl_fail_at(struct jl_err *err, enum jl_status status, const struct jl_where *where, const char *en,
			  const char *ko, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, ko);
	fill(err, status, where, en, ko, args);
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
	static const char en[] = "out of memory";
	static const char ko[] = "메모리가 부족합니다";

	if (err) {
		err->status = JL_E_NOMEM;
		err->in_file = false;
		memcpy(err->en, en, sizeof(en));
		memcpy(err->ko, ko, sizeof(ko));
	}
	return JL_E_NOMEM;
}

const char *jl_err_text(const struct jl_err *err, enum jl_lang lang)
{
	return lang == JL_KO ? err->ko : err->en;
}
