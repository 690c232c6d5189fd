/* Upgrades of an existing machine, each with its gain on a training run and its price. */
#pragma once

#include "cost/money.h"
#include "predict/predict.h"

#define JL_UPGRADES_MAX     64
#define JL_UPGRADE_TEXT_MAX 200

struct jl_upgrade {
	const char *kind; /* bridge, more-gpus, more-machines, other-gpu or network */
	char en[JL_UPGRADE_TEXT_MAX], text[JL_UPGRADE_TEXT_MAX];
	char before[JL_UPGRADE_TEXT_MAX], after[JL_UPGRADE_TEXT_MAX]; /* the compared systems */
	int n_items;
	struct jl_money price;                 /* total; micro 0: unknown */
	const char *price_date, *price_source; /* NULL: given by the user */
	struct jl_estimate before_per_s,
		after_per_s;         /* samples/s on the whole machine, each with its fastest ZeRO stage */
	int before_zero, after_zero; /* that ZeRO stage */
	double pair_before_per_s,
		pair_after_per_s; /* bridge: samples/s of a job on two cards as predict runs it; NAN otherwise */
	double one_per_s;         /* and on one card */
	double gain_frac;         /* after / before - 1 */
	double gain_per_kusd;     /* NAN: unknown price */
	bool within_budget;
};

struct jl_upgrades {
	struct jl_upgrade items[JL_UPGRADES_MAX]; /* by gain per money; those without a price last, by gain */
	size_t n;
	size_t n_over_budget;         /* omitted */
	struct jl_estimate now_per_s; /* samples/s of the present machine with its fastest ZeRO stage */
	int now_zero;
};

struct jl_upgrade_ask {
	const char *system;    /* system expression (catalog/sysexpr.h) */
	struct jl_request run; /* model, batch, sequence ...; its system is ignored */
	double budget_usd;     /* NAN: none */
	double bridge_usd;     /* price of an NVLink bridge; NAN: the catalog's */
};

enum jl_status jl_upgrades_find(struct jl_upgrades *ret_upgrades, const struct jl_upgrade_ask *ask,
				const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);
