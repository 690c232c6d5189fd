/* Composition of a model: parameters, FLOP and activation bytes by kind of layer. */
#pragma once

#include "base/fields.h"
#include "predict/count.h"
#include "predict/program_case.h"
#include "topics/show.h"

struct jl_flops {
	const char *id, *name, *item;
	double batch, seq; /* seq NAN: no sequence */
	double file_batch; /* samples of the file's own input; 0: not stated */
	struct jl_counts counts;
};

extern const struct jl_schema jl_flops_fields;

void jl_show_flops(struct jl_doc *doc, const struct jl_flops *flops);

/* The same of a captured program: calls, FLOP, bytes and memory by module. */
struct jl_program_flops {
	const char *id, *name;
	const struct jl_captured *captured;
	struct jl_modules modules;
};
extern const struct jl_schema jl_program_flops_fields;
void jl_show_program_flops(struct jl_doc *doc, const struct jl_program_flops *flops);
