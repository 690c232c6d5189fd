/* A served language model: time to first token, speed, memory. */
#pragma once

#include "base/fields.h"
#include "serve/serve.h"
#include "topics/show.h"

#define JL_SERVING_ROWS_MAX 16

struct jl_serving_row {
	double n_requests; /* concurrent */
	struct jl_serve_answer a;
};

struct jl_serving {
	struct jl_subject subject;
	struct jl_sys sys;
	struct jl_serve_ask ask;
	const char *engine; /* as given, or NULL */
	size_t n;
	struct jl_serving_row rows[JL_SERVING_ROWS_MAX];
};

extern const struct jl_schema jl_serving_fields;

void jl_show_serving(struct jl_doc *doc, const struct jl_serving *serving);
