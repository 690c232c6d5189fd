/* The live page and the HTTP API: answers of the commands, for browsers and programs. Access control: door.c; addresses: routes.c; queues of
 * requests: jobs.c. */
#pragma once

#include "request/ask.h"

struct jl_web_options {
	const struct jl_front *front;
	const struct jl_catalog *cat;
	const char *version;
	const char *listen; /* an address; NULL: loopback, and no token is needed */
	int port;
	bool open;      /* start the person's browser */
	long fixed_day; /* the day of all answers; 0: today */
	int n_threads;  /* 0: one for each processor */
	const char *data_dir,
		*machine; /* folders that answers may read: published rows, a captured machine; NULL: none */
};

/* Returns when the process is asked to end (SIGINT, SIGTERM). JL_E_ABSENT where the program was built without libmicrohttpd. */
enum jl_status jl_web_serve(const struct jl_web_options *options, struct jl_err *err);
