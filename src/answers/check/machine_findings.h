/* Findings on a machine: slow, disabled or obstructing, each with reason and remedy. */
#pragma once

#include "base/arena.h"
#include "catalog/catalog.h"
#include "probe/probe.h"

#define JL_FINDINGS_MAX     48
#define JL_FINDING_TEXT_MAX 640

enum jl_severity {
	JL_FINDING_NOTE, /* good to know */
	JL_FINDING_WARN, /* costs speed in some uses */
	JL_FINDING_BAD   /* costs much, or something is broken */
};
const char *jl_severity_name(enum jl_severity severity); /* "note", "warning", "bad" */

struct jl_bitext {
	char en[JL_FINDING_TEXT_MAX], text[JL_FINDING_TEXT_MAX];
};

struct jl_finding {
	const char *key; /* in JSON: "no_p2p" */
	enum jl_severity severity;
	struct jl_bitext what, why, todo;
	double before, after; /* predicted speed-up on `gain_gpus` GPUs over one; NAN: not predicted */
	int gain_gpus;
};

struct jl_findings {
	size_t n;
	struct jl_finding items[JL_FINDINGS_MAX];
};

/* Most severe first. Predictions are for gpt-305m, batch 4 a GPU, sequence 512. */
enum jl_status jl_machine_findings(const struct jl_probe_machine *machine, const struct jl_catalog *cat,
				   struct jl_arena *arena, const struct jl_findings **ret_findings, struct jl_err *err);
