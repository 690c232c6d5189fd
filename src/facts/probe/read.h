/* Readers called by jl_probe_machine, one per part of the machine. */
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

/* Next line of *at into `line` (truncated to its size); false: end. */
bool jl_text_line(const char **at, char *line, size_t size);
/* Integer, decimal or 0x; `otherwise` if it is not one. */
long long jl_text_whole(const char *text, long long otherwise);
/* Value after "key" and a colon or equal sign on a line of `text`; NULL: none. */
const char *jl_text_value(struct jl_arena *arena, const char *text, const char *key);
/* Number of processors in a list such as "0-31,64-95"; marks each in `seen` (may be NULL). */
int jl_text_cpus(const char *list, bool seen[JL_PROBE_CPUS_MAX]);
const char *jl_text_base(const char *path);
/* Index in the PCI list of a device by its bus id or a path that ends with it; -1: none. */
int jl_pci_at(const struct jl_probe_machine *machine, const char *bus);
