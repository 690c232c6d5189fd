/* What a machine delivers when it serves a language model: does it fit, how long to the first token, how fast then. */
#ifndef JL_PREDICT_SERVE_H
#define JL_PREDICT_SERVE_H

#include "physics/serve_params.h"
#include "predict/predict.h"
#include "workload/served.h"

struct jl_serve_ask {
	const struct jl_model_info *model;  /* of the catalog, or NULL: */
	const struct jl_transformer *shape; /* any other */
	const char *weights;   /* format: "bf16", "fp8", "int4", ...; NULL: bf16, fp16 where the device has no bf16 */
	enum jl_engine engine; /* JL_ENGINE_GENERAL: nobody's in particular */
	int n_gpus;            /* that share the model; 0: the fewest of one host that hold it and the requests */
	double n_requests;     /* at once */
	double prompt, output; /* tokens of each */
};

struct jl_serve_answer {
	bool fits;         /* weights, and keys and values of at least one request */
	int n_gpus;        /* that share the model */
	double weights_B;  /* on each device */
	double context_B;  /* on each device, for one request at its longest */
	double capacity_B; /* of a device */
	double room;       /* requests that can run at once */
	double batch;      /* that do, on average; the others wait */
	double half_ln;    /* of tpot_s: half width of the 80 % interval */
	bool checked;      /* measurements of the device's family under load are behind the interval */
	struct jl_estimate ttft_s, tpot_s;
	struct jl_estimate request_tps, total_tps; /* output tokens a second: of one request, of all; one model copy */
	struct jl_serve_step step;                 /* where the time of one output token goes */
};

/* One copy of the model on one host of `machine`. A model that does not fit is an answer, not an error. */
enum jl_status jl_serve_predict(struct jl_serve_answer *ret_answer, const struct jl_catalog *cat,
				const struct jl_machine *machine, const struct jl_serve_ask *ask, struct jl_err *err);

#endif
