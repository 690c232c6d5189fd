/* Internal declarations of the machine findings. */
#pragma once

#include "check/machine_findings.h"

struct jl_finding_in {
	const struct jl_probe_machine *machine;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	struct jl_findings *out;
};

/* Adds a finding; NULL: the list is full. */
struct jl_finding *jl_finding_add(struct jl_finding_in *in, const char *key, enum jl_severity severity);
/* Appends `more` to `text`. */
void jl_finding_join(struct jl_bitext *text, const struct jl_bitext *more);

void jl_bitext_print(struct jl_bitext *text, const char *en, ...) __attribute__((format(printf, 2, 3)));

/* "GPU0–GPU9", "GPU1, GPU3": the marked GPUs; returns their number. */
#define JL_GPU_LIST_MAX 160
size_t jl_finding_gpus(char out[JL_GPU_LIST_MAX], const bool *marked, size_t n);

/* Adds a finding for the marked GPUs, and their list; NULL: none is marked, or the list is full. */
struct jl_finding *jl_finding_on(struct jl_finding_in *in, const char *key, enum jl_severity severity,
				 const bool *marked, char list[JL_GPU_LIST_MAX]);

/* Findings by GPU: one row each; `what` takes the list of affected GPUs. */
struct jl_gpu_look {
	const char *key;
	enum jl_severity severity;
	bool (*shows)(const struct jl_probe_machine *machine, const struct jl_probe_gpu *gpu);
	const char *what, *why, *todo;
};
void jl_finding_look(struct jl_finding_in *in, const struct jl_gpu_look *looks, size_t n);

/* Predicted samples/s of gpt-305m, batch 4 a GPU, sequence 512, on a system expression; NAN: no prediction. */
double jl_finding_samples_per_s(const struct jl_finding_in *in, const char *system);

void jl_findings_gpus(struct jl_finding_in *in);
void jl_findings_links(struct jl_finding_in *in);
void jl_findings_host(struct jl_finding_in *in);
void jl_findings_load(struct jl_finding_in *in);
