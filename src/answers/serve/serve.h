/* What a machine delivers when it serves a language model: does it fit, how long to the first token, how fast then. */
#pragma once

#include "parameters/op_params.h"
#include "parameters/serve_params.h"
#include "predict/predict.h"
#include "serve/sim.h"
#include "program/served.h"

#define JL_SERVED_TOO_LONG                                                                                             \
	JL_N("a request of %s tokens is longer than the %s that the model was made for: engines refuse it")

struct jl_serve_ask {
	const struct jl_model_info *model;  /* of the catalog, or NULL: */
	const struct jl_transformer *shape; /* any other */
	const char *weights;                /* format: "bf16", "fp8", "int4", ...; NULL: as the model is published */
	int engine;                         /* JL_ENGINE_GENERAL: none in particular */
	int n_gpus;            /* that share the model; 0: the fewest of one host that hold it and the requests */
	double n_requests;     /* at once */
	double users, think_s; /* people instead, who read so long before they ask again: n_requests follows; 0: none */
	double prompt, output; /* tokens of each */
	/* read before, for many questions about one family; NULL: the shipped ones are read */
	const struct jl_serve_fit *fit;
	const struct jl_op_fit *ops;
	bool if_room;     /* is nothing timed where not all of them have room at once? */
	double least_tps; /* what cannot come near so many output tokens a second is not timed; 0: everything is */
};

struct jl_serve_answer {
	bool fits;         /* weights, and keys and values of at least one request */
	int n_gpus;        /* that share the model */
	double weights_B;  /* on each device */
	double context_B;  /* on each device, for one request at its longest */
	double capacity_B; /* of a device */
	double n_requests; /* at once: as asked, or of the people */
	double room;       /* requests that can run at once */
	double batch;      /* that do, on average; the others wait */
	double half_ln;    /* of tpot_s: half width of the 80 % interval */
	bool checked;      /* measurements of the device's family under load are behind the interval */
	struct jl_estimate ttft_s, tpot_s;
	struct jl_estimate request_tps, total_tps; /* output tokens a second: of one request, of all; one model copy */
	struct jl_serve_step step;                 /* where the time of one output token goes */
};

/* Any run of a served model, and what is asked of it: prompts on machines of their own, several workers, lengths. */
struct jl_serve_run {
	struct jl_served model;
	int engine;
	const struct jl_op_fit *ops; /* of the device's family with it */
	struct jl_serve_format format;
	struct jl_serve_place place, prefill; /* prefill.n_gpus 0: the same machines */
	double n_prefill_workers, n_decode_workers;
	double n_requests, prompt, output, max_batch;
	double context; /* decode alone: mean context */
	double hold;    /* passes after which a recipe looks for new requests; 0: with each */
	double budget;  /* tokens of a pass by a recipe; 0: the engine's own */
	enum jl_serve_metric metric;
	int generate;  /* prefill: and `output` tokens after it */
	int n_assumed; /* lengths, batch or plan are not stated */
	int loose;     /* lengths differ a little about the nominal: requests do not stay in step */
	bool reckoned; /* nobody says that it ran: the room is what there is */
	int spread;    /* lengths from 0.8 of the nominal to all of it, as published clients draw them */
};

/* The passes that a run's times are made of, and how many of each (serving/sim.h): what a fit needs of a simulation. */
struct jl_run_share {
	struct jl_serve_work work;
	double weight[JL_N_METRIC]; /* in each of the metrics that the run can be measured for */
};
struct jl_run_plan {
	int n;
	double n_handoff;                          /* 1: prompts have machines of their own */
	double front_req;                          /* requests that one waits for in the front end, itself among them */
	double prompt;                             /* its own tokens */
	double n_hold;                             /* passes after which new requests are looked for */
	struct jl_run_share shares[JL_PASSES_MAX]; /* may be cut off behind the last */
};
/* Simulates the run's client once with some physics. In a closed loop on one machine others give the same plan. ret_run_s: NULL,
 * or seconds of each metric, simulated; NAN: not measured by it. */
enum jl_status jl_serve_plan(struct jl_run_plan *ret_plan, double *ret_run_s, const struct jl_device *dev,
			     const struct jl_serve_fit *fit, const struct jl_serve_run *run, struct jl_err *err);
/* The simulation itself: every figure of it. */
enum jl_status jl_run_simulate(struct jl_sim_result *ret_result, struct jl_run_plan *ret_plan,
			       const struct jl_device *dev, const struct jl_serve_fit *fit,
			       const struct jl_serve_run *run, struct jl_err *err);
/* Seconds of a metric by a plan. ret_step: what they are made of; may be NULL. */
double jl_serve_plan_s(const struct jl_run_plan *plan, const struct jl_device *dev, const struct jl_serve_fit *fit,
		       enum jl_serve_metric metric, struct jl_serve_step *ret_step);

/* Engines take decoders, and cut them by their heads. info NULL: a shape that was given. */
enum jl_status jl_serve_check(const struct jl_model_info *info, const struct jl_served *model, int n_gpus,
			      bool by_requests, struct jl_err *err);

/* How a model's weights are kept and computed with (jl_served_weights) on a device by an engine. */
enum jl_status jl_serve_format(struct jl_serve_format *ret_format, const char *asked, const struct jl_model_info *info,
			       const struct jl_served *model, const struct jl_device *dev, int engine,
			       struct jl_err *err);
/* What was asked for, its backend on the machine (NULL: any); files of llama.cpp are run by it alone. */
int jl_serve_engine(int asked, const char *weights, const struct jl_machine *machine);

/* Does it run there? */
bool jl_serve_engine_runs(const struct jl_engine_info *info, const struct jl_gpu *gpu); /* gpu NULL: a CPU */
enum jl_status jl_serve_engine_check(int engine, const struct jl_machine *machine, struct jl_err *err);
/* llama.cpp: whole layers on any number of devices, prompts in pieces. */
void jl_serve_by_layer(struct jl_serve_place *place, double n_devices);

/* What sources are counted by: engine, version, and bytes of the weights with the kind of model as its format. */
#define JL_SERVE_AXIS_MAX 32
struct jl_axes jl_serve_axes(const struct jl_serve_run *run, char ret_format[JL_SERVE_AXIS_MAX]);

/* Has any source measured the engine, of this version, on this device? True where none is asked for. */
bool jl_serve_published(const struct jl_machine *machine, const struct jl_serve_run *run);

enum jl_asked jl_serve_asked_of(const struct jl_serve_run *run); /* whose interval its metric has */
struct jl_serve_time {
	enum jl_asked answer;
	double time_s, half_ln;
	struct jl_doubt doubt;
	struct jl_serve_step step;
};
/* What takes most of a pass (a message), and its share. */
const char *jl_serve_bound(const struct jl_serve_step *step, double *ret_frac);

/* plan: NULL, or the run's, where it hangs on no physics: then nothing is simulated again. */
struct jl_serve_time jl_serve_of(const struct jl_machine *machine, const struct jl_serve_fit *fit,
				 const struct jl_serve_run *run, const struct jl_run_plan *plan);

int jl_serve_host_gpus(const struct jl_machine *machine); /* of one host; 1 where none is known */

/* One copy of the model on one host of `machine`. A model that does not fit is an answer, not an error. */
enum jl_status jl_serve_predict(struct jl_serve_answer *ret_answer, const struct jl_catalog *cat,
				const struct jl_machine *machine, const struct jl_serve_ask *ask, struct jl_err *err);
