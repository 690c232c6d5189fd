/* The page and the HTTP API: answers of the commands for browsers and programs. Access control: door.c; URLs: routes.c; queues: jobs.c. */
#pragma once

#include "request/ask.h"

struct jl_web_options {
	const struct jl_front *front;
	const struct jl_catalog *cat;
	const char *version;
	const char *listen; /* address; NULL: loopback, without a token */
	int port;
	bool open;      /* open the browser */
	long fixed_day; /* date of all answers; 0: today */
	int n_threads;  /* 0: one per processor */
	const char *data_dir,
		*machine; /* folders readable by answers: published rows, a captured machine; NULL: none */
};

/* Returns on SIGINT or SIGTERM. JL_E_ABSENT in builds without libmicrohttpd. */
enum jl_status jl_web_serve(const struct jl_web_options *options, struct jl_err *err);
