/* The few functions of SQLite that are used, opened when a store is: reading its library takes a tenth of the time of a prediction, which
 * has no store. */
#pragma once

#include <sqlite3.h>

#include "base/err.h"

#define JL_LIBSQLITE_FUNCTIONS(X)                                                                                      \
	X(bind_parameter_index)                                                                                        \
	X(bind_text)                                                                                                   \
	X(busy_timeout)                                                                                                \
	X(changes)                                                                                                     \
	X(close)                                                                                                       \
	X(column_bytes)                                                                                                \
	X(column_text)                                                                                                 \
	X(db_config)                                                                                                   \
	X(errmsg)                                                                                                      \
	X(errstr)                                                                                                      \
	X(exec)                                                                                                        \
	X(extended_result_codes)                                                                                       \
	X(finalize)                                                                                                    \
	X(get_autocommit)                                                                                              \
	X(limit)                                                                                                       \
	X(open_v2)                                                                                                     \
	X(progress_handler)                                                                                            \
	X(prepare_v2)                                                                                                  \
	X(step)                                                                                                        \
	X(system_errno)

#define JL_LIBSQLITE_MEMBER(NAME) __typeof__(sqlite3_##NAME) *NAME;
struct jl_libsqlite {
	JL_LIBSQLITE_FUNCTIONS(JL_LIBSQLITE_MEMBER)
};

/* The library, opened once and kept; JL_E_ABSENT with its package where it is not there. */
enum jl_status jl_libsqlite(const struct jl_libsqlite **ret_sqlite, struct jl_err *err);
