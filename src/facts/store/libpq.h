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

struct jl_libpq {
	struct pg_conn *(*connect)(const char *const *keywords, const char *const *values, int expand_dbname);
	void (*finish)(struct pg_conn *conn);
	int (*status)(const struct pg_conn *conn);
	void (*(*notice)(struct pg_conn *conn, void (*say)(void *ctx, const char *text), void *ctx))(void *,
												     const char *);
	char *(*error_message)(const struct pg_conn *conn);
	int (*socket)(const struct pg_conn *conn);
	int (*set_nonblocking)(struct pg_conn *conn, int on);
	int (*flush)(struct pg_conn *conn);   /* 1: more to send */
	int (*consume)(struct pg_conn *conn); /* takes what has come; 0: the connection is gone */
	int (*is_busy)(struct pg_conn *conn);
	int (*send)(struct pg_conn *conn, const char *query);
	int (*send_params)(struct pg_conn *conn, const char *command, int n_params, const unsigned *types,
			   const char *const *values, const int *lengths, const int *formats, int result_format);
	int (*single_row)(struct pg_conn *conn);
	struct pg_result *(*get_result)(struct pg_conn *conn);
	int (*result_status)(const struct pg_result *res);
	char *(*result_error)(const struct pg_result *res);
	char *(*error_field)(const struct pg_result *res, int field);
	char *(*cmd_status)(struct pg_result *res);
	int (*n_tuples)(const struct pg_result *res);
	char *(*value)(const struct pg_result *res, int row, int field);
	int (*length)(const struct pg_result *res, int row, int field);
	char *(*cmd_tuples)(struct pg_result *res);
	void (*clear)(struct pg_result *res);
	struct pg_option *(*parse)(const char *conninfo, char **errmsg);
	void (*free_options)(struct pg_option *options);
	void (*free_memory)(void *memory);
};

/* The library, opened once and kept; JL_E_ABSENT with its package where it is not there. */
enum jl_status jl_libpq(const struct jl_libpq **ret_pq, struct jl_err *err);
