/* A transformer from the config.json that Hugging Face models carry. */
#pragma once

#include "base/arena.h"
#include "workload/transformer.h"

#define JL_HFCONFIG_MAX_B ((size_t)8 << 20) /* real ones have a few kB */

struct jl_hfconfig {
	struct jl_transformer model;
	const char *type; /* its model_type */
	double seq;       /* the longest sequence it states; NAN: none */
};

/* `text` of `len` bytes, called `file` in messages. */
enum jl_status jl_hfconfig_parse(struct jl_hfconfig *ret_config, const char *text, size_t len, const char *file,
				 struct jl_arena *arena, struct jl_err *err);
