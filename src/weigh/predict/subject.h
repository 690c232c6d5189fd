/* What is to be run: a transformer from the catalog, from a config.json, or from its dimensions; or a network that is a list of
 * operators (convolutional, recurrent, detectors). */
#pragma once

#include "catalog/catalog.h"
#include "predict/request.h"
#include "workload/convnet.h"
#include "workload/transformer.h"

struct jl_workload_kind;

struct jl_subject {
	const struct jl_workload_kind *kind; /* what differs between kinds: predict/kind.h */
	struct jl_transformer model;         /* of a transformer */
	const struct jl_convnet *net;        /* of a network that is a list of operators; else NULL */
	const char *id;                      /* catalog id, path, or "model" for one given by its dimensions */
	const char *name;                    /* as a person reads it */
	const struct jl_model_info *info;    /* NULL: not from the catalog */
	double seq;                          /* the length it is usually run at; NAN: not known */
	bool shape_assumed;                  /* --kv-heads, --ffn or --vocab were filled in */
};

enum jl_status jl_subject_find(struct jl_subject *ret_subject, const struct jl_catalog *cat,
			       const struct jl_request *req, struct jl_arena *arena, struct jl_err *err);

/* How many parameters it has. */
double jl_subject_params(const struct jl_subject *subject);

/* "124M", "8.03B", "51.5T": three digits. */
#define JL_PARAMS_TEXT_MAX 32
const char *jl_params_text(char out[JL_PARAMS_TEXT_MAX], double params);
