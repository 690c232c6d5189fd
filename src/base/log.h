/* Remarks that a person should see while the program goes on. The library hands them to whoever runs it; without one
 * they go nowhere. */
#ifndef JL_BASE_LOG_H
#define JL_BASE_LOG_H

#include "base/err.h"

enum jl_log_level { JL_LOG_ERROR, JL_LOG_WARN, JL_LOG_INFO, JL_LOG_DEBUG };

struct jl_log_sink {
	void (*say)(void *ctx, enum jl_log_level level, const char *en, const char *ko);
	void *ctx;
	enum jl_log_level most; /* levels above it are not formatted at all */
};

/* Set by the front door before other threads start; NULL switches it off. The sink is copied. */
void jl_log_set_sink(const struct jl_log_sink *sink);

/* One line in both languages, as jl_fail takes it. */
void jl_log(enum jl_log_level level, const char *en, const char *ko, ...)
	__attribute__((format(printf, 2, 4), format(printf, 3, 4)));

/* Pass on an error that was dealt with: what happened is worth a warning, the program goes on. */
void jl_log_err(enum jl_log_level level, const struct jl_err *err);

const char *jl_log_level_name(enum jl_log_level level, enum jl_lang lang); /* "warning" */

#endif
