/* Transformers in Hugging Face's own code: listed kernel by kernel from the chosen case, then weighed as a captured program is. */
#pragma once

#include "predict/predict.h"

/* True where that code is asked for, or is the usual code of a hub's name or a config.json. */
bool jl_hub_meant(const struct jl_subject *subject, const struct jl_machine *machine, const struct jl_request *req);
/* Whether this case can be listed: one GPU's layers, whole; says why not. */
enum jl_status jl_hub_can(const struct jl_case *c, const struct jl_request *req, struct jl_err *err);
/* `*subject` becomes the list of a case's step, `*req` what is left to ask of it. */
enum jl_status jl_hub_list(struct jl_subject *subject, struct jl_request *req, const struct jl_case *c,
			   struct jl_err *err);
