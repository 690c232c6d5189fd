/* Codebases: the program that runs a training, and the time its step takes beyond the modelled kernels and launches. Codebases are treated as a
 * random sample: an unnamed one gets the median. */
#pragma once

#include "timeline/profile.h"
#include "parameters/params.h"

struct jl_codebase {
	const char *id; /* id in data, parameters and requests */
	const char *name;
	enum jl_framework framework; /* its default profile */
	const char *spelling;        /* spelling in sources if it differs from the name; NULL: none */
};
#define JL_N_CODEBASE 29
extern const struct jl_codebase jl_codebases[JL_N_CODEBASE];

/* By id; -1: unknown. jl_codebase_in: the first codebase whose name or spelling occurs in a text, ignoring case. */
int jl_codebase_by_id(const char *id);
int jl_codebase_in(const char *text);

/* Ratio of codebase i as parameter "HEAD.code.ID": prior 1, standard deviation (ln) JL_CODE_SD_LN, the spread among codebases. */
#define JL_CODE_SD_LN 0.12
void jl_code_param(struct jl_param *ret_param, const char *head, size_t i);

/* Multiplies the device work and host time of a profile by the ratio. */
void jl_profile_scale(struct jl_profile *profile, double ratio);

/* Fitted ratio of a codebase in training or fine-tuning; 1: no rows of it, or -1 (unnamed). */
double jl_code_ratio(const struct jl_catalog *cat, int codebase, bool tuned);
