/* jeoul's own view of what a note says: the machines that it names, and a run of it carried from one to another. */
#pragma once

#include "memo/inside.h"
#include "predict/predict.h"

/* The accelerator that a mention means, and how many: where it leaves either open, the note's fullest mention of it decides. */
const struct jl_gpu *jl_memo_gpu(const struct jl_memo *note, const struct jl_mention *mention, uint32_t *ret_count);
bool jl_memo_machine(struct jl_machine *ret_machine, const struct jl_memo *note, const struct jl_mention *mention,
		     uint32_t count);

/* A run seen on one system (a step of `batch` samples) on another: its time per sample / the seen one's, with its 80 % interval. */
struct jl_seen {
	const struct jl_mention *on;
	double step_s, batch, batches;
};
bool jl_memo_carry(struct jl_estimate *ret_speedup, struct jl_memo *note, const struct jl_seen *seen,
		   const struct jl_mention *to);

/* The largest ratio of any listed rate (tensor cores, FP32, memory) of two systems: more is not in the hardware. NAN: not known. */
double jl_memo_rate_ratio(const struct jl_memo *note, const struct jl_mention *to, const struct jl_mention *from);
