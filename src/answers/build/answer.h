/* Answers of `jeoul build`: a checked parts list and ranked upgrades, with their JSON schemas. */
#pragma once

#include "base/fields.h"
#include "build/findings.h"
#include "build/upgrade.h"

struct jl_build_answer {
	const struct jl_rig *rig;
	const struct jl_part_findings *found;
};
size_t jl_build_count(const struct jl_part_findings *found, enum jl_part_level level);

struct jl_upgrade_answer {
	const struct jl_upgrade_ask *ask;
	const struct jl_upgrades *found;
	double krw_per_usd;  /* NAN: amounts are shown in dollars */
	const char *fx_date; /* NULL: rate given by the user */
};

extern const struct jl_schema jl_build_fields, jl_upgrade_fields; /* `jeoul build --json`, with --upgrade */
