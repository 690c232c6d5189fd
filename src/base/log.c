#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

static struct jl_log_sink current;

static const struct {
	const char *en, *ko;
} names[] = {
	[JL_LOG_ERROR] = { "error", "오류" },
	[JL_LOG_WARN] = { "warning", "주의" },
	[JL_LOG_INFO] = { "info", "알림" },
	[JL_LOG_DEBUG] = { "debug", "디버그" },
};

void jl_log_set_sink(const struct jl_log_sink *sink)
{
	current = sink ? *sink : (struct jl_log_sink){ .say = NULL };
}

void jl_log(enum jl_log_level level, const char *en, const char *ko, ...)
{
	char text_en[JL_ERR_TEXT_MAX], text_ko[JL_ERR_TEXT_MAX];
	va_list args;

	if (!current.say || level > current.most)
		return;
	va_start(args, ko);
	vsnprintf(text_en, sizeof(text_en), en, args);
	va_end(args);
	va_start(args, ko);
	vsnprintf(text_ko, sizeof(text_ko), ko, args);
	va_end(args);
	/* names from files and command lines may carry escape sequences */
	jl_utf8_sanitize(text_en);
	jl_utf8_sanitize(text_ko);
	current.say(current.ctx, level, text_en, text_ko);
}

void jl_log_err(enum jl_log_level level, const struct jl_err *err)
{
	if (current.say && level <= current.most)
		current.say(current.ctx, level, err->en, err->ko);
}

const char *jl_log_level_name(enum jl_log_level level, enum jl_lang lang)
{
	if ((size_t)level >= sizeof(names) / sizeof(names[0]))
		level = JL_LOG_DEBUG;
	return JL_T(lang, names[level].en, names[level].ko);
}
