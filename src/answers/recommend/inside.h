/* Internals of recommend: the steps of jl_recommend_run. */
#pragma once

#include "recommend/recommend.h"
#include "serve/serve.h"

/* One kind of machine, in any quantity. */
struct jl_unit_offered {
	const struct jl_gpu *gpu;
	const struct jl_system *system; /* NULL: a host with cards */
	const char *join;               /* NULL: the default interconnect */
	int n_per_node;
	size_t first; /* index of its first setup; it has one per entry of jl_node_counts */
	bool stale;   /* all its prices are too old to be used or shown */
};

/* One offer of such a machine. */
struct jl_offer {
	size_t unit;
	enum jl_how how;
	const struct jl_price *price;
	const char *date;
	long day;
	double unit_usd, host_usd;
};

extern const int jl_node_counts[];
extern const size_t jl_n_node_counts;

struct jl_offers {
	struct jl_unit_offered *units;
	size_t n_units;
	struct jl_offer *items;
	size_t n;
};

enum jl_status jl_offers_find(struct jl_offers *ret_offers, const struct jl_recommend_ask *ask, struct jl_arena *arena,
			      struct jl_err *err);

/* Host memory assumed for `n` cards, bytes; the answer mentions it. */
double jl_host_ram_B(int n_cards);

/* Evaluates the work on one machine: sets all of `setup` except sys and text. Pure function. */
struct jl_work {
	const struct jl_recommend_ask *ask;
	struct jl_subject subject; /* unused for an observed run */
	/* serve: one per architecture */
	struct jl_serve_fit *fits;
	struct jl_op_fit *ops;
};
void jl_setup_weigh(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine);

/* expert.c: software support and measurements of a setup; reasons to reject a candidate regardless of cost; whether it meets its limits in the
 * worst case; its rank (lower is better). `support` is a row of catalog/support.yaml. */
bool jl_gpu_has_arm_host(const struct jl_gpu *gpu);
void jl_expert_look(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine);
bool jl_offer_is_stale(const struct jl_gpu *gpu, bool system, enum jl_how how, const struct jl_price *price, long day,
		       const struct jl_recommend_ask *ask);
bool jl_expert_group(const struct jl_sys *sys, const struct jl_recommend_ask *ask);
enum jl_against jl_expert_against(const struct jl_candidate *candidate, const struct jl_recommend_ask *ask);
bool jl_expert_carries(const struct jl_setup *setup, const struct jl_recommend_ask *ask);
double jl_expert_hosts_most(const struct jl_recommendation *recommendation, const struct jl_recommend_ask *ask);
bool jl_expert_has_room(const struct jl_setup *setup);
bool jl_expert_survives(const struct jl_candidate *candidate, const struct jl_recommend_ask *ask, double stretch);
double jl_expert_score(const struct jl_candidate *candidate, const struct jl_recommend_ask *ask);

/* Serving: memory and time per token for a machine's users. jl_serve_prepare computes what all machines share. */
enum jl_status jl_serve_prepare(struct jl_work *io_work, struct jl_arena *arena, struct jl_err *err);
void jl_setup_serve(struct jl_setup *setup, const struct jl_work *work, const struct jl_machine *machine);
