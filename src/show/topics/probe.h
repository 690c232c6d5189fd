/* Hardware of a machine, its topology, and findings. */
#pragma once

#include "base/fields.h"
#include "check/machine_findings.h"
#include "topics/show.h"

/* All output of `jeoul probe`. */
struct jl_probed {
	const struct jl_probe_machine *machine;
	const struct jl_findings *findings;
};
extern const struct jl_schema jl_probed_fields;

void jl_show_machine(struct jl_doc *doc, const struct jl_probe_machine *machine); /* without findings */
void jl_show_probed(struct jl_doc *doc, const struct jl_probed *probed);

/* probe_tree.c: NUMA nodes with their devices */
const struct jl_tree_node *jl_show_machine_tree(struct jl_doc *doc, const struct jl_probe_machine *machine);
const char *jl_show_bits(struct jl_doc *doc, double Bps); /* "10 Gb/s" */
