/* Finds published rows similar to a request. */
#include "score/near.h"
#include "parameters/arch.h"

#include <math.h>
#include <string.h>

static bool differs(const char *a, const char *b)
{
	return a && *a && strcmp(a, b) != 0;
}

static double distance(const struct jl_near_ask *ask, const struct jl_set_row *row)
{
	double sum = 0.0;

	for (int e = 0; e < JL_N_EXTENT; e++) {
		const double off = ask->extent_ln[e] - row->extent_ln[e];

		sum += isnan(off) ? 0.0 : off * off;
	}
	return sqrt(sum) + differs(ask->kind[JL_LABEL_GPU], row->kind[JL_LABEL_GPU]) +
	       differs(ask->kind[JL_LABEL_FAMILY], row->kind[JL_LABEL_FAMILY]) +
	       differs(ask->kind[JL_LABEL_KIND], row->kind[JL_LABEL_KIND]) +
	       (row->format ? differs(ask->format, row->format) : 0.0);
}

size_t jl_near_rows(const struct jl_validation *v, const struct jl_near_ask *ask, size_t max, struct jl_near *ret_near)
{
	size_t n = 0;

	for (size_t l = 0; l < v->n_lines && max; l++) {
		const struct jl_validate_line *line = &v->lines[l];

		for (size_t i = 0; i < line->n_rows; i++) {
			const struct jl_set_row *row = line->rows[i];
			size_t at = n;

			if (row->answer != ask->answer || isnan(jl_validate_ln(row)))
				continue;
			const double d = distance(ask, row);

			while (at > 0 && d < ret_near[at - 1].distance)
				at--;
			if (at == max)
				continue;
			if (n < max)
				n++;
			memmove(ret_near + at + 1, ret_near + at, (n - at - 1) * sizeof(*ret_near));
			ret_near[at] = (struct jl_near){ .line = line, .index = i, .distance = d };
		}
	}
	return n;
}

struct jl_near_ask jl_near_case(const struct jl_case *c)
{
	struct jl_near_ask ask = {
		.answer = c->subject.net ? jl_case_answer(c) : JL_ASKED_STEP,
		.kind = { [JL_LABEL_GPU] = c->machine.sys.gpu ? c->machine.sys.gpu->id : "cpu",
			  [JL_LABEL_FAMILY] = jl_arch_id(c->machine.dev.arch),
			  [JL_LABEL_KIND] = jl_case_label(c) },
		.format = jl_dtype_name(c->shard.dtype),
	};

	jl_case_extent(c, ask.extent_ln);
	return ask;
}
