/* The form of a line, as a person writes it: 'step {step} loss {*} {step_s} s'.
 *
 * Text stands for itself, a blank for any number of blanks, {*} for anything up to the text that follows, and {name}
 * for a number. The names say what the number is and its unit: step_s, step_ms, step_us, steps_per_s, it_per_s,
 * samples_per_s, tokens_per_s, tflops (of one GPU), step, epoch, batch, loss. It is looked for anywhere in a line;
 * nothing is tried twice, so that no line can take long. */
#pragma once

#include "import/series.h"

#define JL_PATTERN_PIECES_MAX 32
#define JL_PATTERN_TEXT_MAX   256
#define JL_PATTERN_LINE_MAX   4096 /* lines of training logs are shorter */

struct jl_import_pattern {
	struct piece {
		char text[JL_PATTERN_TEXT_MAX]; /* literal; empty: see `field` */
		int field;                      /* -1: literal, 0: anything, from 1: a number */
	} pieces[JL_PATTERN_PIECES_MAX];
	size_t n;
};

enum jl_status jl_import_pattern_compile(struct jl_import_pattern *ret_pattern, const char *text, struct jl_err *err);
bool jl_import_pattern_match(const struct jl_import_pattern *pattern, const struct jl_line *line,
			     struct jl_step *ret_step);
