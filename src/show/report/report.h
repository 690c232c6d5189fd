/* A scenario becomes a document: answered once, then written section by section. */
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
	/* This machine and what was measured on it; NULL, 0: the report is about the scenario alone. */
	const struct jl_probe_machine *machine;
	const char *this_on; /* how this machine stands among the systems; NULL: it does not */
	const struct jl_record *records;
	size_t n_records;
};

enum jl_status jl_report_make(struct jl_doc *ret_doc, const struct jl_report_in *in, struct jl_err *err);
