/* Converts a scenario to a document: computes all results once, then writes sections. */
#pragma once

#include "probe/probe.h"
#include "record/record.h"
#include "document/doc.h"
#include "scenario/scenario.h"

struct jl_report_in {
	const struct jl_scenario *scenario;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	long today;
	/* This machine and its measurements; NULL and 0: the report is about the scenario only. */
	const struct jl_probe_machine *machine;
	const char *this_on; /* name of this machine among the systems; NULL: not included */
	const struct jl_record *records;
	size_t n_records;
};

enum jl_status jl_report_make(struct jl_doc *ret_doc, const struct jl_report_in *in, struct jl_err *err);
