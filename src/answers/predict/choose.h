/* The two searches behind jl_case_choose. Internal to predict. */
#pragma once

#include "predict/predict.h"

#define JL_USUAL_TOKENS 16384.0 /* default tokens per GPU and step */

/* A way to split a model. */
struct jl_split {
	double tp, pp, ep;
	int zero;
	double shard; /* number of ranks that ZeRO shards over; 0: all */
	enum jl_recompute recompute;
	double vpp; /* chunks per stage; 0: not interleaved */
};

/* Sets a split in the case: degrees, framework, states. */
void jl_choose_apply(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
		     const struct jl_split *split);

/* Finds the fastest usual split, for the given batch or the one that then fits with JL_MEMORY_MARGIN_FRAC free: plain data parallelism; states
 * sharded within hosts or over all; with or without recomputation. Also splits layers in small degrees if otherwise layers would be recomputed,
 * or if states are sharded and exchange takes a quarter of the step. Among nearly equal ones takes the simplest; if none fits, the one with the
 * least memory. Options in the request are kept. */
void jl_choose_split(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat, bool *ret_searched,
		     bool *ret_fits);

/* Chooses sequence length, attention, split and framework of a transformer. */
enum jl_status jl_choose_transformer(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
				     struct jl_err *err);

/* Chooses micro-batch, micro-batches per step, global batch. */
enum jl_status jl_choose_batch(struct jl_case *c, const struct jl_request *req, struct jl_err *err);

/* Transformers in Hugging Face's code are listed kernel by kernel from the chosen case and then predicted like captured programs. */
/* True if Hugging Face's code is meant, rather than ordinary code for a model given by hub name or config.json. */
bool jl_hub_meant(const struct jl_subject *subject, const struct jl_machine *machine, const struct jl_request *req);
/* Checks whether the case can be listed (unsplit layers on one GPU); the error says why not. */
enum jl_status jl_hub_can(const struct jl_case *c, const struct jl_request *req, struct jl_err *err);
/* Replaces `*subject` by the list of operators of a case's step, and `*req` by the remaining options. */
enum jl_status jl_hub_list(struct jl_subject *subject, struct jl_request *req, const struct jl_case *c,
			   struct jl_err *err);
