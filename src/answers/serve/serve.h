/* Performance of a served language model: memory, time to first token, generation speed. */
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
	const struct jl_transformer *shape; /* any other shape */
	const char *weights;                /* format: "bf16", "fp8", "int4", ...; NULL: as published */
	int engine;                         /* JL_ENGINE_GENERAL: none given */
	int n_gpus;                         /* GPUs per copy; 0: the fewest of one host that hold it and the requests */
	double n_requests;                  /* concurrent */
	double users, think_s;              /* users with this reading time instead: n_requests follows; 0: none */
	double prompt, output;              /* tokens of each */
	/* shared by many questions of one family; NULL: the shipped parameters are read */
	const struct jl_serve_fit *fit;
	const struct jl_op_fit *ops;
	bool if_room;     /* no times if not all requests have room at once */
	double least_tps; /* no times if throughput stays far below this; 0: always */
};

struct jl_serve_answer {
	bool fits;         /* weights, and keys and values of at least one request */
	int n_gpus;        /* that share the model */
	double weights_B;  /* per device */
	double context_B;  /* per device, for one request at its full length */
	double capacity_B; /* of a device */
	double n_requests; /* concurrent: as given, or of the users */
	double room;       /* concurrent requests that fit */
	double batch;      /* mean number running; the others wait */
	double half_ln;    /* of tpot_s: half width of the 80 % interval */
	bool checked;      /* the interval includes measurements of the device's family under load */
	struct jl_estimate ttft_s, tpot_s;
	struct jl_estimate request_tps, total_tps; /* output tokens a second: of one request, of all; one model copy */
	struct jl_serve_step step;                 /* parts of one output token's time */
};

/* Any run of a served model: separate prompt machines, several workers, lengths. */
struct jl_serve_run {
	struct jl_served model;
	int engine;
	const struct jl_op_fit *ops; /* of the device's family */
	struct jl_serve_format format;
	struct jl_serve_place place, prefill; /* prefill.n_gpus 0: the same machines */
	double n_prefill_workers, n_decode_workers;
	double n_requests, prompt, output, max_batch;
	double context; /* decode only: mean context */
	double hold;    /* passes between admissions by the recipe; 0: every pass */
	double budget;  /* tokens per pass by the recipe; 0: the engine's default */
	enum jl_serve_metric metric;
	int generate;  /* prefill: followed by `output` tokens */
	int n_assumed; /* unknown lengths, batch or plan */
	int loose;     /* lengths vary slightly around the nominal: requests are not synchronised */
	bool reckoned; /* not a measured run: room by the memory model */
	int spread;    /* lengths from 0.8 of the nominal, as published clients draw them */
};

/* The passes that a run's times consist of, with their counts (serving/sim.h): a fit needs only these. */
struct jl_run_share {
	struct jl_serve_work work;
	double weight[JL_N_METRIC]; /* per metric of the run */
};
struct jl_run_plan {
	int n;
	double n_handoff;                          /* 1: separate prompt machines */
	double front_req;                          /* requests in the front end per request, itself included */
	double prompt;                             /* its own tokens */
	double n_hold;                             /* passes between admissions */
	struct jl_run_share shares[JL_PASSES_MAX]; /* may be truncated */
};
/* Simulates the run's client once. In a closed loop on one machine the plan is independent of the cost model. ret_run_s: NULL, or simulated
 * seconds of each metric; NAN: not measured by it. */
enum jl_status jl_serve_plan(struct jl_run_plan *ret_plan, double *ret_run_s, const struct jl_device *dev,
			     const struct jl_serve_fit *fit, const struct jl_serve_run *run, struct jl_err *err);
/* The simulation with all its figures. */
enum jl_status jl_run_simulate(struct jl_sim_result *ret_result, struct jl_run_plan *ret_plan,
			       const struct jl_device *dev, const struct jl_serve_fit *fit,
			       const struct jl_serve_run *run, struct jl_err *err);
/* Seconds of a metric by a plan. ret_step: its parts; may be NULL. */
double jl_serve_plan_s(const struct jl_run_plan *plan, const struct jl_device *dev, const struct jl_serve_fit *fit,
		       enum jl_serve_metric metric, struct jl_serve_step *ret_step);

/* Engines support decoders, split by heads. info NULL: a given shape. */
enum jl_status jl_serve_check(const struct jl_model_info *info, const struct jl_served *model, int n_gpus,
			      bool by_requests, struct jl_err *err);

/* Storage and compute formats of a model's weights (jl_served_weights) on a device by an engine. */
enum jl_status jl_serve_format(struct jl_serve_format *ret_format, const char *asked, const struct jl_model_info *info,
			       const struct jl_served *model, const struct jl_device *dev, int engine,
			       struct jl_err *err);
/* The given engine, its backend on the machine (NULL: any); llama.cpp files run on it only. */
int jl_serve_engine(int asked, const char *weights, const struct jl_machine *machine);

/* True if the engine runs on the device. */
bool jl_serve_engine_runs(const struct jl_engine_info *info, const struct jl_gpu *gpu); /* gpu NULL: a CPU */
enum jl_status jl_serve_engine_check(int engine, const struct jl_machine *machine, struct jl_err *err);
/* llama.cpp: whole layers on any number of devices, prompts in pieces. */
void jl_serve_by_layer(struct jl_serve_place *place, double n_devices);

/* Grouping of sources: engine, version, and bytes of the weights, with the kind of model as its format. */
#define JL_SERVE_AXIS_MAX 32
struct jl_axes jl_serve_axes(const struct jl_serve_run *run, char ret_format[JL_SERVE_AXIS_MAX]);

/* True if a source measured the engine in this version on this device, or without a given engine. */
bool jl_serve_published(const struct jl_machine *machine, const struct jl_serve_run *run);

enum jl_asked jl_serve_asked_of(const struct jl_serve_run *run); /* selects the interval of the metric */
struct jl_serve_time {
	enum jl_asked answer;
	double time_s, half_ln;
	struct jl_doubt doubt;
	struct jl_serve_step step;
};
/* The largest part of a pass (a message), and its share. */
const char *jl_serve_bound(const struct jl_serve_step *step, double *ret_frac);

/* plan: NULL, or the run's if it is independent of the cost model: avoids a simulation. */
struct jl_serve_time jl_serve_of(const struct jl_machine *machine, const struct jl_serve_fit *fit,
				 const struct jl_serve_run *run, const struct jl_run_plan *plan);

int jl_serve_host_gpus(const struct jl_machine *machine); /* GPUs of one host; 1 if not known */

/* One copy of the model on one host of `machine`. A model that does not fit is a result, not an error. */
enum jl_status jl_serve_predict(struct jl_serve_answer *ret_answer, const struct jl_catalog *cat,
				const struct jl_machine *machine, const struct jl_serve_ask *ask, struct jl_err *err);
