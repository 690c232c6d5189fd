/* The readers that jl_probe_machine calls, each for its part of the machine. */
#pragma once

#include "probe/probe.h"

struct jl_probe_in {
	struct jl_probe_source *source;
	struct jl_arena *arena;
	struct jl_probe_machine *machine;
	const struct jl_probe_options *options;
	const struct jl_catalog *cat;
};

enum jl_status jl_read_cpu(struct jl_probe_in *in, struct jl_err *err);
enum jl_status jl_read_memory(struct jl_probe_in *in, struct jl_err *err);
enum jl_status jl_read_host(struct jl_probe_in *in, struct jl_err *err);
enum jl_status jl_read_pci(struct jl_probe_in *in, struct jl_err *err);
enum jl_status jl_read_gpus(struct jl_probe_in *in, struct jl_err *err);
enum jl_status jl_read_net(struct jl_probe_in *in, struct jl_err *err);
enum jl_status jl_read_disks(struct jl_probe_in *in, struct jl_err *err);
enum jl_status jl_match_catalog(struct jl_probe_in *in, struct jl_err *err);

/* The next line of *at into `line` (cut to its size); false at the end. */
bool jl_text_line(const char **at, char *line, size_t size);
/* A whole number, or `otherwise`; 0x is understood. */
long long jl_text_whole(const char *text, long long otherwise);
/* The value behind "key" and its colon or equal sign on a line of `text`; NULL: none. */
const char *jl_text_value(struct jl_arena *arena, const char *text, const char *key);
/* How many processors "0-31,64-95" names; every one of them is marked in `seen` (may be NULL). */
int jl_text_cpus(const char *list, bool seen[JL_PROBE_CPUS_MAX]);
/* The last part of a path. */
const char *jl_text_base(const char *path);
/* Place of a device in the PCI list by the name of a link to it; -1: none. */
int jl_pci_at(const struct jl_probe_machine *machine, const char *bus);
