/* Checks a parts list. Each finding has its rule, the rule's source and a certainty. Must not print. */
#pragma once

#include "build/rig.h"

enum jl_part_level {
	JL_PART_OK,
	JL_PART_UNCHECKED, /* an input is missing */
	JL_PART_CONFLICT,  /* the sources of the rules disagree */
	JL_PART_WARNING,
	JL_PART_ERROR,
	JL_N_PART_LEVEL
};

enum jl_part_sure { JL_SURE_PHYSICS, JL_SURE_SPEC, JL_SURE_MEASURED, JL_SURE_OPINION, JL_N_SURE };

#define JL_PART_TEXT_MAX     320
#define JL_PART_RULES_MAX    4
#define JL_PART_FINDINGS_MAX 32

struct jl_part_finding {
	const char *id; /* e.g. psu, psu-margin, connectors, slots */
	enum jl_part_level level;
	enum jl_part_sure sure;
	char en[JL_PART_TEXT_MAX], text[JL_PART_TEXT_MAX];
	const struct jl_rule *rules[JL_PART_RULES_MAX]; /* rules of the catalog; NULL-terminated unless full */
};

struct jl_part_findings {
	struct jl_part_finding items[JL_PART_FINDINGS_MAX];
	size_t n;
	double load_W;                  /* all cards at their power limit, CPU and the rest, W */
	double psu_least_W, psu_most_W; /* smallest and largest power supply that the rules require */
};

void jl_rig_check(struct jl_part_findings *ret_findings, const struct jl_rig *given, const struct jl_catalog *cat);

const char *jl_part_level_key(enum jl_part_level level);
const char *jl_part_level_name(enum jl_part_level level);
const char *jl_part_sure_name(enum jl_part_sure sure); /* for JSON; jl_msg() translates */
