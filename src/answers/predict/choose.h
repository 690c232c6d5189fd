/* Inside predict only: the two searches behind jl_case_choose. */
#pragma once

#include "predict/predict.h"

#define JL_USUAL_TOKENS 16384.0 /* of a GPU and step, the default */

/* One way to cut a model. */
struct jl_split {
	double tp, pp, ep;
	int zero;
	double shard; /* ranks that ZeRO cuts over; 0: all */
	enum jl_recompute recompute;
	double vpp; /* chunks a stage; 0: not interleaved */
};

/* Puts a cut into the case: degrees, framework, states. */
void jl_choose_apply(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
		     const struct jl_split *split);

/* The fastest of what people run, with the batch that was asked for or that then fits with JL_MEMORY_MARGIN_FRAC to spare: plain data
 * parallel; states cut inside hosts or over all of them; layers made again or not. Small cuts of layers too where layers would be made again, or states are cut and a quarter of a
 * step is exchange. Of those that are near, the plainest. Where none fits, the one that needs least. What the request gives is kept. */
void jl_choose_split(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat, bool *ret_searched,
		     bool *ret_fits);

/* Sequence, attention, cut and framework of a transformer. */
enum jl_status jl_choose_transformer(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
				     struct jl_err *err);

/* Micro-batch, micro-batches a step, global batch. */
enum jl_status jl_choose_batch(struct jl_case *c, const struct jl_request *req, struct jl_err *err);

/* Transformers in Hugging Face's own code: listed kernel by kernel from the chosen case, then weighed as a captured program is. */
/* Is that code what is asked for, or the usual code behind a hub's name or a config.json? */
bool jl_hub_meant(const struct jl_subject *subject, const struct jl_machine *machine, const struct jl_request *req);
/* Whether this case can be listed: one GPU's layers, whole; says why not. */
enum jl_status jl_hub_can(const struct jl_case *c, const struct jl_request *req, struct jl_err *err);
/* `*subject` becomes the list of a case's step, `*req` what is left to ask of it. */
enum jl_status jl_hub_list(struct jl_subject *subject, struct jl_request *req, const struct jl_case *c,
			   struct jl_err *err);
