#include "store/libpq.h"

#include <stddef.h>

#define SYMBOL(member, function)                                                                                       \
	{                                                                                                              \
		.name = (function), .offset = offsetof(struct jl_libpq, member)                                        \
	}

static const struct jl_dynlib_symbol symbols[] = {
	SYMBOL(connect, "PQconnectdbParams"),
	SYMBOL(finish, "PQfinish"),
	SYMBOL(status, "PQstatus"),
	SYMBOL(notice, "PQsetNoticeProcessor"),
	SYMBOL(error_message, "PQerrorMessage"),
	SYMBOL(socket, "PQsocket"),
	SYMBOL(set_nonblocking, "PQsetnonblocking"),
	SYMBOL(flush, "PQflush"),
	SYMBOL(consume, "PQconsumeInput"),
	SYMBOL(is_busy, "PQisBusy"),
	SYMBOL(send, "PQsendQuery"),
	SYMBOL(send_params, "PQsendQueryParams"),
	SYMBOL(single_row, "PQsetSingleRowMode"),
	SYMBOL(get_result, "PQgetResult"),
	SYMBOL(result_status, "PQresultStatus"),
	SYMBOL(result_error, "PQresultErrorMessage"),
	SYMBOL(error_field, "PQresultErrorField"),
	SYMBOL(cmd_status, "PQcmdStatus"),
	SYMBOL(n_tuples, "PQntuples"),
	SYMBOL(value, "PQgetvalue"),
	SYMBOL(length, "PQgetlength"),
	SYMBOL(cmd_tuples, "PQcmdTuples"),
	SYMBOL(clear, "PQclear"),
	SYMBOL(parse, "PQconninfoParse"),
	SYMBOL(free_options, "PQconninfoFree"),
	SYMBOL(free_memory, "PQfreemem"),
};

enum jl_status jl_libpq(const struct jl_libpq **ret_pq, struct jl_err *err)
{
	static const char *const names[] = { "libpq.so.5", "libpq.so", NULL };
	static struct jl_libpq pq; /* the library stays until the program ends: it registers handlers of its own */
	static struct jl_dynlib lib;
	struct jl_err why;

	if (!lib.handle &&
	    jl_dynlib_open(&lib, "JEOUL_LIBPQ", names, symbols, sizeof(symbols) / sizeof(*symbols), &pq, &why))
		return jl_fail_from(err, JL_E_ABSENT, NULL, &why,
				    "PostgreSQL is not available: {}; install the package libpq5");
	*ret_pq = &pq;
	return JL_OK;
}
