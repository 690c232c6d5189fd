/* The few functions of libpq that are used, opened at run time: the program neither links it nor needs its header. */
#pragma once

#include "base/dynlib.h"
#include "base/err.h"

struct pg_conn;   /* PGconn */
struct pg_result; /* PGresult */

/* PQconninfoOption, as libpq lays it out since 7.x. */
struct pg_option {
	char *keyword, *envvar, *compiled, *val, *label, *dispchar;
	int dispsize;
};

enum { PG_CONNECTION_OK = 0 };                                     /* ConnStatusType */
enum { PG_COMMAND_OK = 1, PG_TUPLES_OK = 2, PG_SINGLE_TUPLE = 9 }; /* ExecStatusType */
enum { PG_SQLSTATE = 'C' };                                        /* PG_DIAG_SQLSTATE */

typedef void pg_notice(void *ctx, const char *text);

/* What it returns, its name here and in the library, its arguments. */
/* clang-format off */
#define JL_LIBPQ_FUNCTIONS(X) \
	X(struct pg_conn *, connect, "PQconnectdbParams", const char *const *keywords, const char *const *values, int expand_dbname) \
	X(void, finish, "PQfinish", struct pg_conn *conn) \
	X(int, status, "PQstatus", const struct pg_conn *conn) \
	X(pg_notice *, notice, "PQsetNoticeProcessor", struct pg_conn *conn, pg_notice *say, void *ctx) \
	X(char *, error_message, "PQerrorMessage", const struct pg_conn *conn) \
	X(int, socket, "PQsocket", const struct pg_conn *conn) \
	X(int, set_nonblocking, "PQsetnonblocking", struct pg_conn *conn, int on) \
	X(int, flush, "PQflush", struct pg_conn *conn) \
	X(int, consume, "PQconsumeInput", struct pg_conn *conn) \
	X(int, is_busy, "PQisBusy", struct pg_conn *conn) \
	X(int, send, "PQsendQuery", struct pg_conn *conn, const char *query) \
	X(int, send_params, "PQsendQueryParams", struct pg_conn *conn, const char *command, int n_params, const unsigned *types, const char *const *values, const int *lengths, const int *formats, int result_format) \
	X(int, single_row, "PQsetSingleRowMode", struct pg_conn *conn) \
	X(struct pg_result *, get_result, "PQgetResult", struct pg_conn *conn) \
	X(int, result_status, "PQresultStatus", const struct pg_result *res) \
	X(char *, result_error, "PQresultErrorMessage", const struct pg_result *res) \
	X(char *, error_field, "PQresultErrorField", const struct pg_result *res, int field) \
	X(char *, cmd_status, "PQcmdStatus", struct pg_result *res) \
	X(char *, value, "PQgetvalue", const struct pg_result *res, int row, int field) \
	X(int, length, "PQgetlength", const struct pg_result *res, int row, int field) \
	X(char *, cmd_tuples, "PQcmdTuples", struct pg_result *res) \
	X(void, clear, "PQclear", struct pg_result *res) \
	X(struct pg_option *, parse, "PQconninfoParse", const char *conninfo, char **errmsg) \
	X(void, free_options, "PQconninfoFree", struct pg_option *options) \
	X(void, free_memory, "PQfreemem", void *memory)
/* clang-format on */
#define JL_LIBPQ_MEMBER(RETURNS, NAME, SYMBOL, ...) RETURNS (*NAME)(__VA_ARGS__);
struct jl_libpq {
	JL_LIBPQ_FUNCTIONS(JL_LIBPQ_MEMBER)
};

/* The library, opened once and kept; JL_E_ABSENT with its package where it is not there. */
enum jl_status jl_libpq(const struct jl_libpq **ret_pq, struct jl_err *err);
