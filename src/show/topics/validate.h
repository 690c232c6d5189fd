/* Prediction errors on published measurements. */
#pragma once

#include "base/fields.h"
#include "score/validate.h"
#include "topics/show.h"

struct jl_validated {
	const struct jl_validation *v;
	const char *set; /* this line only; NULL: all */
	size_t n_worst;
	bool all; /* also by GPU, framework and link, and rows not scored with reasons */
	const struct jl_unscored *unscored;
	size_t n_unscored;
};
extern const struct jl_schema jl_validated_fields;

void jl_show_validated(struct jl_doc *doc, const struct jl_validated *in);

/* File of a row; NULL: none. */
const struct jl_validate_file *jl_validate_file_of(const struct jl_validation *v, const struct jl_validate_line *line,
						   size_t index);
