/* The weighing of one request: what is run, on what, how; then how long, how much memory, energy and money. Never
 * prints.
 *
 * jl_case_make(&c, cat, &request, &arena, &err); every choice made, each with its reason jl_predict(&prediction, &c);
 * pure from here on */
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

/* What is to be run: a transformer from the catalog, from a config.json, or from its dimensions; or a network that is a list of
 * operators (convolutional, recurrent, detectors); or a program that was captured. */
struct jl_workload_kind;
struct jl_captured;

struct jl_subject {
	const struct jl_workload_kind *kind; /* what differs between kinds: predict/kind.h */
	struct jl_transformer model;         /* of a transformer */
	const struct jl_convnet *net;        /* of a network that is a list of operators; else NULL */
	const struct jl_captured *program;   /* of a captured program (predict/program_case.h); else NULL */
	const char *id;                      /* catalog id, path, or "model" for one given by its dimensions */
	const char *name;                    /* as a person reads it */
	const struct jl_model_info *info;    /* NULL: not from the catalog */
	double seq;                          /* the length it is usually run at; NAN: not known */
	const char *type;                    /* model_type of a config.json; NULL: from the catalog, or none */
	bool from_hub;                       /* given by a config.json or by its name on a hub */
	struct jl_arena *arena;              /* that what is listed for a case may lie in; NULL: nothing is */
	bool shape_assumed;                  /* --kv-heads, --ffn or --vocab were filled in */
};
extern const struct jl_workload_kind jl_kind_transformer, jl_kind_network, jl_kind_program; /* those that there are */

enum jl_status jl_subject_find(struct jl_subject *ret_subject, const struct jl_catalog *cat,
			       const struct jl_request *req, struct jl_arena *arena, struct jl_err *err);

/* Whether the subject can be served or (adapters) fine-tuned; the error says why not, and what to ask for instead. */
enum jl_status jl_subject_check_tokens(const struct jl_subject *subject, bool adapters, struct jl_err *err);

/* Tokens of the longest request that it was made for; NAN: not known. */
double jl_subject_context(const struct jl_subject *subject);

/* How many parameters it has. */
double jl_subject_params(const struct jl_subject *subject);

/* "124M", "8.03B", "51.5T": three digits. */
#define JL_PARAMS_TEXT_MAX 32
const char *jl_params_text(char out[JL_PARAMS_TEXT_MAX], double params);

/* A choice that was made for the person, and why; in English and as the person reads it. */
#define JL_NOTE_TEXT_MAX 320
#define JL_NOTES_MAX     24
struct jl_note {
	const char *key; /* the option that would have said it */
	char en[JL_NOTE_TEXT_MAX], text[JL_NOTE_TEXT_MAX];
};
struct jl_notes {
	size_t n;
	struct jl_note items[JL_NOTES_MAX];
};

/* More than JL_NOTES_MAX are not kept. */
void jl_note_add(struct jl_notes *notes, const char *key, const char *en, ...) __attribute__((format(printf, 3, 4)));

/* 80 % interval; multiplicative, so that a rate's is the mirror of a time's. */
struct jl_estimate {
	double value, lo, hi;
};
struct jl_estimate jl_estimate_around(double value, double half_ln);
struct jl_estimate jl_estimate_times(struct jl_estimate estimate, double factor);

/* A request with nothing left open. Plain data: may be copied and changed to ask "what if". */
struct jl_case {
	struct jl_subject subject;
	struct jl_machine machine;
	enum jl_framework framework;
	const char *code; /* id of a codebase (parameters/codebase.h); NULL: not stated */
	struct jl_profile profile;
	struct jl_plan plan;
	struct jl_shard shard; /* seq NAN: a network without sequences */
	int states, optimizer; /* as asked for; JL_UNSET: as the framework does */
	int n_gpus;
	double global_batch;
	int loss;            /* enum jl_loss; JL_UNSET: the framework's own */
	double chunked_loss; /* pieces that the loss is computed in; 0: one */
	int method;          /* enum jl_method */
	double generated;    /* tokens of an answer that the model makes (GRPO) */
	double run_seq; /* tokens of a sample as it is run, padding included; 0: as the longest, shard.seq, which memory is for */
	double mean_seq;   /* ... without padding */
	unsigned software; /* enum jl_conv_software: what old releases of a network's framework lack */
	bool launch_given; /* profile.launch_s was measured by the user */
	int n_assumed;     /* inputs that a published run leaves out */
	struct jl_input input;
	bool tuned;                                           /* fine-tuning was asked for: intervals are its own */
	double ram_B;                                         /* of one host; NAN: not known */
	double samples, tokens, steps_per_epoch, epochs, pue; /* NAN: not asked for */
	struct jl_request asked;                              /* what it follows from; its texts are not kept */
	struct jl_notes notes;
};
/* Of a published step: no file is read, and no length of a run is given. */
#define JL_CASE_STEP_ALONE                                                                                             \
	.input = { .kind = JL_INPUT_SYNTHETIC }, .ram_B = NAN, .samples = NAN, .tokens = NAN, .steps_per_epoch = NAN,  \
	.epochs = NAN, .pue = 1

/* Parses, chooses and checks. Errors are one line that says what would be right. */
enum jl_status jl_case_make(struct jl_case *ret_case, const struct jl_catalog *cat, const struct jl_request *req,
			    struct jl_arena *arena, struct jl_err *err);

/* The same when the subject and the machine are known already (sweeps, comparisons). */
enum jl_status jl_case_choose(struct jl_case *ret_case, const struct jl_catalog *cat, const struct jl_subject *subject,
			      const struct jl_machine *machine, const struct jl_request *req, struct jl_err *err);

/* The model's own form of a case; its pointers point into `c`. */
struct jl_train jl_case_train(const struct jl_case *c);
/* enum jl_offload: requested, and what the framework offloads by default. */
unsigned jl_case_offload(const struct jl_case *c);

/* Bytes per parameter that this case's framework, format and ZeRO stage keep; sets them in its plan. */
void jl_case_set_states(struct jl_case *c);

/* A case of fine-tuning: what that has beside training. */
void jl_case_tune(struct jl_case *c, struct jl_tune_fit fit);
void jl_case_tune_profile(struct jl_profile *profile, enum jl_framework framework, const struct jl_catalog *cat,
			  const char *code);

/* Adapters beside frozen weights: the libraries that train them cut no layers, and make a whole layer again or nothing. */
bool jl_case_adapters(const struct jl_case *c);

/* Tokens of a step, padding not counted. */
double jl_case_tokens(const struct jl_case *c);

/* Is the experts' exchange of this case overlapped? */
int jl_case_ep_async(const struct jl_case *c);

/* Is the case possible: degrees, divisibility, batch? Says what would be right. */
enum jl_status jl_case_check(const struct jl_case *c, struct jl_err *err);

enum jl_room {
	JL_ROOM_FITS,
	JL_ROOM_TIGHT, /* above JL_TIGHT_FRAC: fragmentation or a longer sequence may end it */
	JL_ROOM_NONE
};
/* Of a device's memory that whatever is chosen here leaves free: cuts, micro-batches, largest batches, plans. */
#define JL_MEMORY_MARGIN_FRAC 0.06
#define JL_TIGHT_FRAC         (1 - JL_MEMORY_MARGIN_FRAC)
#define JL_NVME_BPS           6e9 /* one PCIe 4 drive: what a host has at least where states, or keys and values, go there */
#define JL_HOST_RAM_FRAC                                                                                               \
	0.9 /* of a host's memory that offloaded tensors may take: the system and loaders need the rest */

/* A rent older than this is taken only where there is no newer one (recommend: only on request). */
#define JL_PRICE_STALE_DAYS 365
#define JL_CARD_PRICE_DAYS  1461 /* of a card that is bought: not taken at all beyond four years */

struct jl_rent {
	double usdps; /* for one GPU; NAN: no price known */
	const char *provider, *item, *region, *date;
	double n_gpu; /* accelerators of the machine that is offered */
	double most; /* of the largest machine of such accelerators that anybody offers: more are many offers, at list price */
	long age_days; /* -1: not known */
	const struct jl_price *price;
	bool stale;          /* older than JL_PRICE_STALE_DAYS */
	bool apart;          /* several are needed, and no network between them is known */
	double single_usdps; /* of one such host by itself, where it costs less: joined ones are another offer; else 0 */
};

struct jl_prediction {
	struct jl_step_cost step; /* parts sum to step_s.value */
	struct jl_memory memory;
	struct jl_estimate memory_B; /* of memory.total_B */
	struct jl_doubt memory_doubt;
	double capacity_B;
	enum jl_room room;
	double max_micro_batch; /* with the margin left free; 0: not even one sample */
	double half_ln;         /* of the step by itself, whatever its input does */
	struct jl_doubt doubt;  /* why it is not less */
	double spread_frac;     /* of step_s, upward */
	double below_frac;      /* downward */
	struct jl_estimate step_s, samples_per_s, tokens_per_s, tokens_per_s_per_gpu;
	struct jl_estimate units_per_s; /* of a network that counts other things than samples */
	const char *unit;               /* those; NULL: tokens */
	double mfu_frac;
	double flop;                       /* of the model, forward and backward, all GPUs, one step */
	double power_W;                    /* of all GPUs and hosts while it runs, before PUE */
	double drawn_W;                    /* with it */
	double host_power_W;               /* of the hosts beside their GPUs */
	double steps_per_epoch;            /* NAN: not asked for */
	struct jl_estimate epoch_s, run_s; /* NAN where not asked for */
	bool whole_run;                    /* energy and cost are of the run; else of one step */
	struct jl_estimate energy_J, cost_usd;
	struct jl_rent rent;
	struct jl_input_time input;  /* what the input pipeline needs a step, hidden or not */
	struct jl_input pipeline;    /* that pipeline */
	double host_B;               /* host memory that offloading needs, one host */
	double ram_B;                /* what a host has; NAN: not known */
	double reduced_B;            /* gradient bytes a device exchanges a step */
	double allocated_B;          /* of a captured program: its tensors at their peak */
	struct jl_timeline timeline; /* of a captured program; else all 0 */
	double kind_frac
		[3]; /* of compute: matrix products, attention, streams; networks: other products, convolutions, streams */
};

/* `cat` is for prices; NULL: none. */
void jl_predict(struct jl_prediction *ret_prediction, const struct jl_catalog *cat, const struct jl_case *c);

/* A job: the request with every choice made, and what it takes. The one way in which commands weigh one, so that the same words have the
 * same answer everywhere. */
struct jl_job {
	struct jl_case how;
	struct jl_prediction prediction;
};
enum jl_status jl_job_weigh(struct jl_job *ret_job, const struct jl_catalog *cat, const struct jl_subject *subject,
			    const struct jl_machine *machine, const struct jl_request *req, struct jl_err *err);
/* The same of a request that names its model and system. */
enum jl_status jl_job_make(struct jl_job *ret_job, const struct jl_catalog *cat, const struct jl_request *req,
			   struct jl_arena *arena, struct jl_err *err);

/* How sure a step that was weighed is: half of its 80 % interval, as ln. */
double jl_case_half_ln(const struct jl_case *c, const struct jl_step_cost *step);

/* How large it is: parameters, tokens or samples of one device and step, devices. */
/* What its time is to the intervals. */
enum jl_asked jl_case_answer(const struct jl_case *c);
void jl_case_extent(const struct jl_case *c, double extent_ln[JL_N_EXTENT]);
/* A copy of the case to be changed and priced again, without notes. */
void jl_case_what_if(struct jl_case *ret_case, const struct jl_case *of);
const char *jl_case_label(const struct jl_case *c); /* what measurements of it are known by: framework, or network */

/* Only time and memory: what searches use. */
struct jl_case_price {
	struct jl_step_cost step;
	struct jl_memory memory;
	double host_B; /* host memory that offloading needs, one host */
};
struct jl_case_price jl_case_price(const struct jl_case *c);

/* Does it fit: the device's memory, and the host's where something is offloaded to it? */
enum jl_room jl_case_room(const struct jl_case *c, const struct jl_case_price *weight);

/* What the input pipeline needs a step. */
struct jl_input_time jl_case_input(const struct jl_case *c);
void jl_case_choose_input(struct jl_case *c, const struct jl_catalog *cat, const struct jl_request *req);

/* Host memory of one host that offloading needs. */
double jl_case_host_B(const struct jl_case *c, const struct jl_train_blocks *blocks);

/* Largest micro-batch whose memory fits and leaves JL_MEMORY_MARGIN_FRAC free; 0: none. */
double jl_case_max_micro_batch(const struct jl_case *c);

/* Does a micro-batch of so many do so? */
bool jl_case_holds(const struct jl_case *c, double micro_batch);

/* The largest within `memory_frac` of the device. */
double jl_case_max_micro_batch_within(const struct jl_case *c, double memory_frac);

/* The parts of a step by name, in the order they are shown. */
struct jl_part {
	const char *key; /* in JSON */
	const char *en;
	size_t offset; /* of the double in struct jl_step_cost, or struct jl_memory */
};
#define JL_N_PART 13
extern const struct jl_part jl_parts[JL_N_PART];
double jl_part_of(const void *whole, const struct jl_part *part); /* a struct jl_step_cost, or struct jl_memory */
static inline double jl_part_s(const struct jl_step_cost *step, size_t part)
{
	return jl_part_of(step, &jl_parts[part]);
}
#define JL_N_MEMORY_PART      6
#define JL_MEMORY_ACTIVATIONS 3
extern const struct jl_part jl_memory_parts[JL_N_MEMORY_PART];
/* What bounds a step. Communication counts as one part where it exceeds every other, and by the name of its largest kind where that dominates. */
struct jl_bound {
	size_t part; /* the largest of it */
	const char *en;
	double frac;
};
struct jl_bound jl_bound_of(const struct jl_step_cost *step);

/* Which offers count, the same for every command. A price is one of a machine where its host is in it and its
 * accelerators are whole ones; it may be had many times unless it is one seller's on a marketplace. -1: age not known. */
bool jl_price_is_machine(const struct jl_price *price);
bool jl_price_may_repeat(const struct jl_price *price);
double jl_price_rent_usdps(const struct jl_price *price, bool spot);
/* A spot rent to compute with: not below the median of the same offer in all regions. */
double jl_price_spot_usdps(const struct jl_catalog *cat,
			   const struct jl_price *price); /* of the whole offer; NAN: none */
long jl_price_age_days(const struct jl_price *price, long today);

/* The rent of a system's GPU: its own cloud offer; else machines before bare accelerators, what is not stale before what is, then the
 * cheapest machine that holds a host's, paid whole, unless as many smaller ones cost much less. Several hosts are those of an offer
 * whose hosts the catalog knows to be joined, if there is one, and never a marketplace's single offers; what a row itself says is not
 * a list price is taken last. `region` NULL: everywhere. */
struct jl_rent jl_rent_of(const struct jl_catalog *cat, const struct jl_sys *sys, const char *region, bool spot);
/* On demand, everywhere. */
struct jl_rent jl_rent_find(const struct jl_catalog *cat, const struct jl_sys *sys);

/* What one card costs, the same for every command: the newest price of shops (used: of second-hand sales), medians
 * before minima of the same day; new ones without a listed price have their launch price for NEW_YEARS years. */
struct jl_card_price {
	double usd;                   /* NAN: not to be had */
	const struct jl_price *price; /* NULL: the list price at launch */
	const char *date;
	long day;
	bool used, launch; /* launch: the launch price, where none is listed */
};
struct jl_card_price jl_card_price_of(const struct jl_catalog *cat, const struct jl_gpu *gpu, bool used, long today);
/* True where it is no longer sold at this price: five years after it came out a card is not sold new, a launch price holds for two. */
bool jl_card_price_stale(const struct jl_gpu *gpu, const struct jl_card_price *price, long today);
/* The default offer: new from a shop; second-hand what shops do not sell any more; else the newest there is. */
struct jl_card_price jl_card_price_usual(const struct jl_catalog *cat, const struct jl_gpu *gpu, long today);

/* The newest price of an NVLink bridge for this card's connector: of a part that names what it is for, as "nvlink-bridge-turing-x2" does. NULL: none
 * is listed. */
const struct jl_price *jl_bridge_price(const struct jl_catalog *cat, const struct jl_gpu *gpu);

/* Average draw of all devices and hosts, PUE not included; NAN: TDP unknown. */
double jl_case_power_W(const struct jl_case *c, const struct jl_step_cost *step);

/* Power of `n` devices at this work, and the other loads of their hosts. */
struct jl_power_ask {
	struct jl_power_in work; /* of one device */
	double activity_frac; /* NAN; or, where the work is not known, the share of what lies between idle and the cap */
	double n_gpus, host_W;
	int n_assumed;
};
double jl_power_ask_W(const struct jl_device *dev, const struct jl_power_fit *fit, const struct jl_power_ask *ask);
struct jl_power_answer {
	double power_W, half_ln;
	struct jl_doubt doubt;
};
struct jl_power_answer jl_power_of(const struct jl_machine *machine, const struct jl_power_ask *ask);

/* How sure a draw of that many watts is: the devices' part and their hosts'. */
double jl_power_half_ln(const struct jl_machine *machine, double power_W);
/* A time that is drawn through: energy is as unsure as the time and the power are, each for itself. */
struct jl_estimate jl_energy_of(struct jl_estimate time_s, double power_W, double power_half_ln);
