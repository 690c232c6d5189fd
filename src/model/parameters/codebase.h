/* Whose code trains: codebases by name, and what each takes of a step beyond what its kernels and launches account for. Codebases are a
 * population: one that was not named stands in its middle. */
#pragma once

#include "timeline/profile.h"
#include "parameters/params.h"

struct jl_codebase {
	const char *id; /* in data, parameters and questions */
	const char *name;
	enum jl_framework framework; /* its usual profile */
	const char *spelling;        /* how sources write it, where that is not its name */
};
#define JL_N_CODEBASE 29
extern const struct jl_codebase jl_codebases[JL_N_CODEBASE];

/* By its id; -1: unknown. And the first whose name or spelling a text contains, whatever its case. */
int jl_codebase_by_id(const char *id);
int jl_codebase_in(const char *text);

/* The ratio of codebase i as parameter "HEAD.code.ID": prior 1, spread as that of the population. */
#define JL_CODE_SD_LN 0.12
void jl_code_param(struct jl_param *ret_param, const char *head, size_t i);

/* Device work and host time of a profile times the ratio. */
void jl_profile_scale(struct jl_profile *profile, double ratio);

/* What the catalog's fits know of a codebase (-1: not named, the middle) in training and in tuning; 1: no rows of it. */
double jl_code_ratio(const struct jl_catalog *cat, int codebase, bool tuned);
