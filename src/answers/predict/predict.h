/* Prediction of one request: time, memory, energy and cost of a workload on a system. Never prints.
 *
 * jl_case_make(&c, cat, &request, &arena, &err) makes all choices, each with a reason; jl_predict(&prediction, &c) is pure. */
#pragma once

#include "catalog/catalog.h"
#include "power/power.h"
#include "parameters/framework_params.h"
#include "predict/request.h"
#include "program/timeline.h"
#include "system/machine.h"
#include "program/convnet.h"
#include "program/input.h"
#include "program/train.h"
#include "program/transformer.h"

/* The workload: a transformer from the catalog, a config.json or its dimensions; or a network given as a list of operators (convolutional,
 * recurrent, detectors); or a captured program. */
struct jl_workload_kind;
struct jl_captured;

struct jl_subject {
	const struct jl_workload_kind *kind; /* interface of this kind: predict/kind.h */
	struct jl_transformer model;         /* transformers only */
	const struct jl_convnet *net;        /* networks given as lists of operators; otherwise NULL */
	const struct jl_captured *program;   /* captured programs (predict/program_case.h); otherwise NULL */
	const char *id;                      /* catalog id, path, or "model" if given by dimensions */
	const char *name;                    /* display name */
	const struct jl_model_info *info;    /* NULL: not from the catalog */
	double seq;                          /* usual sequence length; NAN: unknown */
	const char *type;                    /* model_type in config.json; NULL: from the catalog, or none */
	bool from_hub;                       /* given by a config.json or a hub name */
	struct jl_arena *arena;              /* memory for lists created for a case; NULL: none may be created */
	bool shape_assumed;                  /* --kv-heads, --ffn or --vocab were assumed */
};
extern const struct jl_workload_kind jl_kind_transformer, jl_kind_network, jl_kind_program; /* all kinds */

enum jl_status jl_subject_find(struct jl_subject *ret_subject, const struct jl_catalog *cat,
			       const struct jl_request *req, struct jl_arena *arena, struct jl_err *err);

/* Checks whether the subject can be served or, with `adapters`, fine-tuned; the error suggests an alternative. */
enum jl_status jl_subject_check_tokens(const struct jl_subject *subject, bool adapters, struct jl_err *err);

/* Maximum context length in tokens; NAN: unknown. */
double jl_subject_context(const struct jl_subject *subject);

/* Number of parameters. */
double jl_subject_params(const struct jl_subject *subject);

/* "124M", "8.03B", "51.5T": three significant digits. */
#define JL_PARAMS_TEXT_MAX 32
const char *jl_params_text(char out[JL_PARAMS_TEXT_MAX], double params);

/* A default that was chosen, with its reason; in English and in the user's language. */
#define JL_NOTE_TEXT_MAX 320
#define JL_NOTES_MAX     24
struct jl_note {
	const char *key; /* option that would override it */
	char en[JL_NOTE_TEXT_MAX], text[JL_NOTE_TEXT_MAX];
};
struct jl_notes {
	size_t n;
	struct jl_note items[JL_NOTES_MAX];
};

/* Ignored when JL_NOTES_MAX is reached. */
void jl_note_add(struct jl_notes *notes, const char *key, const char *en, ...) __attribute__((format(printf, 3, 4)));

/* Value with 80 % interval; multiplicative, so that the interval of a rate mirrors that of a time. */
struct jl_estimate {
	double value, lo, hi;
};
struct jl_estimate jl_estimate_around(double value, double half_ln);
struct jl_estimate jl_estimate_times(struct jl_estimate estimate, double factor);

/* A request with all choices made. Plain data: may be copied and changed for "what if" questions. */
struct jl_case {
	struct jl_subject subject;
	struct jl_machine machine;
	enum jl_framework framework;
	const char *code; /* id of a codebase (parameters/codebase.h); NULL: none */
	struct jl_profile profile;
	struct jl_plan plan;
	struct jl_shard shard; /* seq NAN: no sequences */
	int states, optimizer; /* as requested; JL_UNSET: the framework's default */
	int n_gpus;
	double global_batch;
	int loss;            /* enum jl_loss; JL_UNSET: the framework's default */
	double chunked_loss; /* pieces in which the loss is computed; 0: one */
	int method;          /* enum jl_method */
	double generated;    /* generated tokens per answer (GRPO) */
	double run_seq;  /* actual tokens per sample with padding; 0: shard.seq, the longest, which determines memory */
	double mean_seq; /* the same without padding */
	unsigned software; /* enum jl_conv_software: features that old framework releases lack */
	bool launch_given; /* profile.launch_s was measured by the user */
	int n_assumed;     /* inputs that a published run does not state */
	struct jl_input input;
	bool tuned;                                           /* fine-tuning, which has separate intervals */
	double ram_B;                                         /* per host; NAN: unknown */
	double samples, tokens, steps_per_epoch, epochs, pue; /* NAN: not requested */
	struct jl_request asked;                              /* original request; its strings are not kept */
	struct jl_notes notes;
};
/* For a published step: no input files, no run length. */
#define JL_CASE_STEP_ALONE                                                                                             \
	.input = { .kind = JL_INPUT_SYNTHETIC }, .ram_B = NAN, .samples = NAN, .tokens = NAN, .steps_per_epoch = NAN,  \
	.epochs = NAN, .pue = 1

/* Parses, chooses and checks. Errors are one line with a suggestion. */
enum jl_status jl_case_make(struct jl_case *ret_case, const struct jl_catalog *cat, const struct jl_request *req,
			    struct jl_arena *arena, struct jl_err *err);

/* The same for a known subject and machine (sweeps, comparisons). */
enum jl_status jl_case_choose(struct jl_case *ret_case, const struct jl_catalog *cat, const struct jl_subject *subject,
			      const struct jl_machine *machine, const struct jl_request *req, struct jl_err *err);

/* The model's input for a case; its pointers refer to `c`. */
struct jl_train jl_case_train(const struct jl_case *c);
/* enum jl_offload: requested, plus the framework's default offloads. */
unsigned jl_case_offload(const struct jl_case *c);

/* Sets the plan's bytes per parameter from framework, format and ZeRO stage. */
void jl_case_set_states(struct jl_case *c);

/* Adds what fine-tuning has beyond training. */
void jl_case_tune(struct jl_case *c, struct jl_tune_fit fit);
void jl_case_tune_profile(struct jl_profile *profile, enum jl_framework framework, const struct jl_catalog *cat,
			  const char *code);

/* True for adapters on frozen weights: their libraries neither split layers nor recompute parts of a layer. */
bool jl_case_adapters(const struct jl_case *c);

/* Tokens per step without padding. */
double jl_case_tokens(const struct jl_case *c);

/* True if the experts' all-to-all overlaps with computation. */
int jl_case_ep_async(const struct jl_case *c);

/* Checks degrees, divisibility and batch; the error suggests valid values. */
enum jl_status jl_case_check(const struct jl_case *c, struct jl_err *err);

enum jl_room {
	JL_ROOM_FITS,
	JL_ROOM_TIGHT, /* above JL_TIGHT_FRAC: fragmentation or a longer sequence may exceed memory */
	JL_ROOM_NONE
};
/* Share of device memory that automatic choices leave free: splits, micro-batches, largest batches, plans. */
#define JL_MEMORY_MARGIN_FRAC 0.06
#define JL_TIGHT_FRAC         (1 - JL_MEMORY_MARGIN_FRAC)
#define JL_NVME_BPS           6e9 /* one PCIe 4 drive: minimum for offloading states or KV cache */
#define JL_HOST_RAM_FRAC      0.9 /* share of host memory usable for offloading; system and loaders need the rest */

/* Older rents are used only if there is no newer one (recommend: only on request). */
#define JL_PRICE_STALE_DAYS 365
#define JL_CARD_PRICE_DAYS  1461 /* maximum age of a card's purchase price: four years */

struct jl_rent {
	double usdps; /* per GPU; NAN: no price known */
	const char *provider, *item, *region, *date;
	double n_gpu; /* accelerators in the offered machine */
	/* size of the largest offered machine with such accelerators; more need several offers, at list price */
	double most;
	long age_days; /* -1: unknown */
	const struct jl_price *price;
	bool stale;          /* older than JL_PRICE_STALE_DAYS */
	bool apart;          /* several machines are needed and no network between them is known */
	double single_usdps; /* price of a single host if lower than in a joined offer; otherwise 0 */
};

struct jl_prediction {
	struct jl_step_cost step; /* parts sum to step_s.value */
	struct jl_memory memory;
	struct jl_estimate memory_B; /* interval of memory.total_B */
	struct jl_doubt memory_doubt;
	double capacity_B;
	enum jl_room room;
	double max_micro_batch; /* with the margin left free; 0: no sample fits */
	double half_ln;         /* uncertainty of the step without its input */
	struct jl_doubt doubt;  /* causes of the uncertainty */
	double spread_frac;     /* step_s upward, relative */
	double below_frac;      /* downward */
	struct jl_estimate step_s, samples_per_s, tokens_per_s, tokens_per_s_per_gpu;
	struct jl_estimate units_per_s; /* throughput in `unit`, for networks that do not count samples */
	const char *unit;               /* NULL: tokens */
	double mfu_frac;
	double flop;                       /* forward and backward of the model, all GPUs, one step */
	double power_W;                    /* average of all GPUs and hosts, before PUE */
	double drawn_W;                    /* with PUE */
	double host_power_W;               /* hosts without their GPUs */
	double steps_per_epoch;            /* NAN: not requested */
	struct jl_estimate epoch_s, run_s; /* NAN: not requested */
	bool whole_run;                    /* energy and cost are of the whole run; false: of one step */
	struct jl_estimate energy_J, cost_usd;
	struct jl_rent rent;
	struct jl_input_time input;  /* time of the input pipeline per step, overlapped or not */
	struct jl_input pipeline;    /* the input pipeline */
	double host_B;               /* host memory for offloading, per host */
	double ram_B;                /* per host; NAN: unknown */
	double reduced_B;            /* gradient bytes exchanged per device and step */
	double allocated_B;          /* captured programs: tensors at the peak */
	struct jl_timeline timeline; /* captured programs; otherwise all 0 */
	double kind_frac[3];         /* of compute: products, attention (networks: convolutions), streams */
};

/* `cat` supplies prices; NULL: none. */
void jl_predict(struct jl_prediction *ret_prediction, const struct jl_catalog *cat, const struct jl_case *c);

/* A job: a case with its prediction. All commands use this function, so that the same request gets the same answer everywhere. */
struct jl_job {
	struct jl_case how;
	struct jl_prediction prediction;
};
enum jl_status jl_job_weigh(struct jl_job *ret_job, const struct jl_catalog *cat, const struct jl_subject *subject,
			    const struct jl_machine *machine, const struct jl_request *req, struct jl_err *err);
/* The same for a request that names model and system. */
enum jl_status jl_job_make(struct jl_job *ret_job, const struct jl_catalog *cat, const struct jl_request *req,
			   struct jl_arena *arena, struct jl_err *err);

/* Work of an observed step relative to the predicted one, whose global batch may differ. Rates are those of the whole job, in tokens or, without
 * tokens, in samples; 1 if neither is known. */
double jl_job_work_ratio(const struct jl_job *job, double tokens_per_s, double samples_per_s, double step_s);

/* Uncertainty of a predicted step: half-width of its 80 % interval, as ln. */
double jl_case_half_ln(const struct jl_case *c, const struct jl_step_cost *step);

/* Size of the case, as ln: parameters, tokens or samples per device and step, number of devices. */
/* Class of the step time for intervals. */
enum jl_asked jl_case_answer(const struct jl_case *c);
void jl_case_extent(const struct jl_case *c, double extent_ln[JL_N_EXTENT]);
/* A copy of the case without notes, to be changed and predicted again. */
void jl_case_what_if(struct jl_case *ret_case, const struct jl_case *of);
const char *jl_case_label(const struct jl_case *c); /* label of its measurements: framework, or network */

/* Time and memory only, for searches. */
struct jl_case_price {
	struct jl_step_cost step;
	struct jl_memory memory;
	double host_B; /* host memory for offloading, per host */
};
struct jl_case_price jl_case_price(const struct jl_case *c);

/* Checks device memory, and host memory if something is offloaded. */
enum jl_room jl_case_room(const struct jl_case *c, const struct jl_case_price *weight);

/* Time of the input pipeline per step. */
struct jl_input_time jl_case_input(const struct jl_case *c);
void jl_case_choose_input(struct jl_case *c, const struct jl_catalog *cat, const struct jl_request *req);

/* Host memory for offloading, per host. */
double jl_case_host_B(const struct jl_case *c, const struct jl_train_blocks *blocks);

/* Largest micro-batch that leaves JL_MEMORY_MARGIN_FRAC free; 0: none. */
double jl_case_max_micro_batch(const struct jl_case *c);

/* True if this micro-batch leaves the margin free. */
bool jl_case_holds(const struct jl_case *c, double micro_batch);

/* Largest micro-batch within `memory_frac` of device memory. */
double jl_case_max_micro_batch_within(const struct jl_case *c, double memory_frac);

/* Named parts of a step or of memory, in display order. */
struct jl_part {
	const char *key; /* for JSON */
	const char *en;
	size_t offset; /* offset of a double in struct jl_step_cost or struct jl_memory */
};
#define JL_N_PART 13
extern const struct jl_part jl_parts[JL_N_PART];
/* `whole`: struct jl_step_cost or struct jl_memory */
double jl_part_of(const void *whole, const struct jl_part *part);
static inline double jl_part_s(const struct jl_step_cost *step, size_t part)
{
	return jl_part_of(step, &jl_parts[part]);
}
#define JL_N_MEMORY_PART      6
#define JL_MEMORY_ACTIVATIONS 3
extern const struct jl_part jl_memory_parts[JL_N_MEMORY_PART];
/* The bottleneck of a step. Communication counts as one part if it exceeds every other one, named by its largest kind if that dominates. */
struct jl_bound {
	size_t part; /* its largest part */
	const char *en;
	double frac;
};
struct jl_bound jl_bound_of(const struct jl_step_cost *step);

/* Which price rows are usable, the same for all commands. jl_price_is_machine: includes the host and whole accelerators. jl_price_may_repeat:
 * several can be rented, i.e. not a single marketplace offer. Age -1: unknown. */
bool jl_price_is_machine(const struct jl_price *price);
bool jl_price_may_repeat(const struct jl_price *price);
double jl_price_rent_usdps(const struct jl_price *price, bool spot);
/* Spot rent for computations: at least the median of the same offer over all regions. */
double jl_price_spot_usdps(const struct jl_catalog *cat,
			   const struct jl_price *price); /* of the whole offer; NAN: none */
long jl_price_age_days(const struct jl_price *price, long today);

/* Rent of a system's GPU. Order of preference: the system's own cloud offer; machines over bare accelerators; current over stale prices; the
 * cheapest machine with as many accelerators as a host, unless several smaller ones cost much less. Several hosts need an offer whose hosts the
 * catalog knows to be joined, if there is one, and never single marketplace offers. Prices that their row does not call list prices come last.
 * `region` NULL: all regions. */
struct jl_rent jl_rent_of(const struct jl_catalog *cat, const struct jl_sys *sys, const char *region, bool spot);
/* On-demand rent in any region. */
struct jl_rent jl_rent_find(const struct jl_catalog *cat, const struct jl_sys *sys);

/* Price of a card, the same for all commands: the newest shop price (used: second-hand sale), medians before minima of the same day. New cards
 * without a listed price have their launch price for NEW_YEARS years. */
struct jl_card_price {
	double usd;                   /* NAN: not available */
	const struct jl_price *price; /* NULL: launch price */
	const char *date;
	long day;
	bool used, launch; /* launch: launch price, since no other is listed */
};
struct jl_card_price jl_card_price_of(const struct jl_catalog *cat, const struct jl_gpu *gpu, bool used, long today);
/* True if it is no longer sold at this price: cards are sold new for five years after launch, launch prices are valid for two. */
bool jl_card_price_stale(const struct jl_gpu *gpu, const struct jl_card_price *price, long today);
/* The default price: new from a shop; used if shops do not sell it any more; otherwise the newest price. */
struct jl_card_price jl_card_price_usual(const struct jl_catalog *cat, const struct jl_gpu *gpu, long today);

/* Newest price of an NVLink bridge for this card's connector, from parts named like "nvlink-bridge-turing-x2". NULL: none listed. */
const struct jl_price *jl_bridge_price(const struct jl_catalog *cat, const struct jl_gpu *gpu);

/* Average power of all devices and hosts without PUE; NAN: unknown TDP. */
double jl_case_power_W(const struct jl_case *c, const struct jl_step_cost *step);

/* Power of `n_gpus` devices with this work, plus other loads of their hosts. */
struct jl_power_ask {
	struct jl_power_in work; /* per device */
	double activity_frac; /* NAN: use `work`; if the work is unknown, share of the range between idle and limit */
	double n_gpus, host_W;
	int n_assumed;
};
double jl_power_ask_W(const struct jl_device *dev, const struct jl_power_fit *fit, const struct jl_power_ask *ask);
struct jl_power_answer {
	double power_W, half_ln;
	struct jl_doubt doubt;
};
struct jl_power_answer jl_power_of(const struct jl_machine *machine, const struct jl_power_ask *ask);

/* Uncertainty of this power, from devices and hosts. */
double jl_power_half_ln(const struct jl_machine *machine, double power_W);
/* Energy of `power_W` over time_s; combines the independent uncertainties of time and power. */
struct jl_estimate jl_energy_of(struct jl_estimate time_s, double power_W, double power_half_ln);
