/* Checks a parts list by the rules of the catalog. */
#include "build/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/find.h"
#include "catalog/possible.h"

struct checking {
	struct jl_part_findings *out;
	const struct jl_rig *rig;
	const struct jl_catalog *cat;
};

static double figure(const struct checking *c, const char *id)
{
	return jl_figure(c->cat, id);
}

/* Ratio to percent: 1.3 is 30. */
static double percent_over(double ratio)
{
	return (ratio - 1) * 100;
}

/* Adds a finding; `rules` is a space-separated list of rule ids. */
static void say(const struct checking *c, const char *id, enum jl_part_level level, enum jl_part_sure sure,
		const char *rules, const char *en, ...) __attribute__((format(printf, 6, 7)));

static void say(const struct checking *c, const char *id, enum jl_part_level level, enum jl_part_sure sure,
		const char *rules, const char *en, ...)
{
	struct jl_part_finding *f = &c->out->items[c->out->n];
	char ids[256], *rest = ids, *word;
	size_t n = 0;
	va_list args;

	if (c->out->n == JL_PART_FINDINGS_MAX)
		return;
	*f = (struct jl_part_finding){ .id = id, .level = level, .sure = sure };
	va_start(args, en);
	jl_msg_vprint(f->en, f->text, sizeof(f->en), en, args);
	va_end(args);
	snprintf(ids, sizeof ids, "%s", rules);
	while (n < JL_PART_RULES_MAX && (word = strtok_r(rest, " ", &rest)))
		if ((f->rules[n] = jl_rule_by_id(c->cat, word)))
			n++;
	c->out->n++;
}

static void unchecked(const struct checking *c, const char *id, const char *key)
{
	say(c, id, JL_PART_UNCHECKED, JL_SURE_SPEC, "", JL_N("not checked: %s is not given"), key);
}

static double card_W(const struct jl_rig *r)
{
	return isnan(r->gpu_limit_W) ? r->gpu->tdp_W.value : r->gpu_limit_W;
}

static double card_slots(const struct jl_rig *r)
{
	return isnan(r->gpu_slots) ? r->gpu->n_slots.value : r->gpu_slots;
}

/* Distance between neighbouring cards in slots, if they are spread evenly over the board. */
static double card_pitch(const struct jl_rig *r)
{
	const double step = r->n_gpus > 1 && r->board_x16 >= r->n_gpus ? floor((r->board_x16 - 1) / (r->n_gpus - 1))
								       : 1;

	return step * r->board_spacing;
}

static void check_psu(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const double cpu = isnan(r->cpu_W) ? figure(c, "build-cpu-power") : r->cpu_W,
		     rest = figure(c, "build-rest-power");
	const double cards = card_W(r) * r->n_gpus, load = cards + cpu + rest,
		     standard = figure(c, "build-psu-standard");
	const double share = figure(c, "build-psu-load"), over = figure(c, "build-psu-margin-most"),
		     bare = figure(c, "build-psu-margin-bare");
	const double a = load / share, b = load * over, cc = (cards + cpu) * bare; /* power of the supply by rule C */
	const double least = fmin(cc, fmin(a, load * figure(c, "build-psu-margin-least"))), most = fmax(a, b),
		     have = r->psu_W * r->n_psu;

	c->out->load_W = load;
	c->out->psu_least_W = least;
	c->out->psu_most_W = most;
	if (isnan(load)) {
		unchecked(c, "psu", "the card's power");
		return;
	}
	if (least > standard && r->n_psu < 2 && !(have > standard)) /* an existing larger supply is fine */
		say(c, "psu-standard", JL_PART_ERROR, JL_SURE_SPEC,
		    "rule-psu-sizing-a rule-4x-rtx-3090-blower-300-w-wall-peak",
		    JL_N("%.0f W under load: no standard power supply (up to %.0f W) is enough; limit the cards' power "
			 "or use two supplies"),
		    load, standard);
	if (isnan(have))
		unchecked(c, "psu", "psu");
	else if (have < load / figure(c, "build-psu-trips"))
		say(c, "psu", JL_PART_ERROR, JL_SURE_PHYSICS, "rule-psu-sizing-a",
		    JL_N("%.0f W supply, %.0f W under load (%d card{/s} at %.0f W, CPU %.0f W, rest %.0f W): it will "
			 "shut down"),
		    have, load, r->n_gpus, card_W(r), cpu, rest);
	else if (have < load)
		say(c, "psu", JL_PART_ERROR, JL_SURE_SPEC, "rule-psu-sizing-a",
		    JL_N("%.0f W supply, %.0f W under load (%d card{/s} at %.0f W, CPU %.0f W, rest %.0f W): more than "
			 "it is rated for; it may shut down at full load"),
		    have, load, r->n_gpus, card_W(r), cpu, rest);
	else if (have < least)
		say(c, "psu", JL_PART_WARNING, JL_SURE_OPINION, "rule-psu-sizing-a rule-psu-sizing-b rule-psu-sizing-c",
		    JL_N("%.0f W supply for %.0f W under load leaves %.0f %%; every rule asks for more: at least %.0f "
			 "W"),
		    have, load, (have / load - 1) * 100, least);
	else if (have < most)
		say(c, "psu", JL_PART_CONFLICT, JL_SURE_OPINION,
		    "rule-psu-sizing-a rule-psu-sizing-b rule-psu-sizing-c",
		    JL_N("%.0f W supply for %.0f W under load: enough by one rule (CPU + GPU + %.0f %%: %.0f W), not "
			 "by others (+%.0f %%: %.0f W; %.0f %% load: %.0f W)"),
		    have, load, percent_over(bare), cc, percent_over(over), b, share * 100, a);
	else
		say(c, "psu", JL_PART_OK, JL_SURE_OPINION, "rule-psu-sizing-a rule-psu-sizing-b rule-psu-sizing-c",
		    JL_N("%.0f W supply for %.0f W under load (%.0f %% loaded; the rules ask for %.0f to %.0f W)"),
		    have, load, load / have * 100, least, most);
}

/* Checks measured short power peaks above a card's limit. */
static void check_transients(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const double have = r->psu_W * r->n_psu;
	const double bears = !isnan(r->psu_peak_W) ? r->psu_peak_W * r->n_psu
			     : r->psu_atx3         ? have * figure(c, "build-psu-atx3-peak")
						   : have;

	for (size_t i = 0; i < c->cat->n_rules && !isnan(have); i++) {
		const struct jl_rule *rule = &c->cat->rules[i];

		if (strcmp(rule->kind, "transient") != 0 || !rule->subject ||
		    strncmp(r->gpu->id, rule->subject, strlen(rule->subject)) != 0)
			continue;
		const double peak = rule->figure * r->n_gpus + c->out->load_W - card_W(r) * r->n_gpus;
		const char *lasting = rule->conditions ? rule->conditions : "?";
		char rules[128];

		snprintf(rules, sizeof(rules), "%s rule-psu-sizing-b", rule->id);
		say(c, "transients", peak > bears ? JL_PART_WARNING : JL_PART_OK, JL_SURE_MEASURED, rules,
		    JL_N("peaks of %s reach %.0f W a card: %.0f W in all; the supply tolerates %.0f W%s"), lasting,
		    rule->figure, peak, bears, r->psu_atx3 ? " (ATX 3.x)" : "");
	}
}

/* The number of a connector kind: "2x 8-pin", "1x 12-pin", "1x 16-pin". */
static double count_of(const char *text, const char *kind)
{
	const char *at = text ? strstr(text, kind) : NULL;
	double n = 1;

	if (!at)
		return 0;
	while (at > text && at[-1] == ' ')
		at--;
	if (at > text && at[-1] == 'x') {
		const char *digits = at - 1;
		while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		n = strtod(digits, NULL);
	}
	return n;
}

static void check_connectors(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const char *text = r->gpu->power_connectors;
	const double eight = (isnan(r->gpu_8pin) ? count_of(text, "8-pin") : r->gpu_8pin) * r->n_gpus;
	const double sixteen = isnan(r->gpu_8pin) ? (count_of(text, "12-pin") + count_of(text, "16-pin")) * r->n_gpus
						  : 0;
	/* an adapter combines two to four 8-pin cables to one 12-pin */
	const double adapted = sixteen > r->psu_12vhpwr || isnan(r->psu_12vhpwr)
				       ? sixteen - (isnan(r->psu_12vhpwr) ? 0 : r->psu_12vhpwr)
				       : 0;
	const double per_card = card_W(r) > figure(c, "build-adapter-power-4")   ? 4
				: card_W(r) > figure(c, "build-adapter-power-3") ? 3
										 : 2;
	const double need = eight + adapted * per_card;

	if (!text && isnan(r->gpu_8pin)) {
		unchecked(c, "connectors", "the card's connectors");
		return;
	}
	if (need == 0 && sixteen == 0) {
		say(c, "connectors", JL_PART_OK, JL_SURE_SPEC, "connector-8-pin-pcie",
		    JL_N("no power cable is needed"));
		return;
	}
	if (need == 0) {
		say(c, "connectors", JL_PART_OK, JL_SURE_SPEC, "connector-12-pin-16-pin-12vhpwr",
		    JL_N("%g 16-pin cable{/s} needed, the supply has %g"), sixteen, r->psu_12vhpwr);
		return;
	}
	if (isnan(r->psu_8pin)) {
		say(c, "connectors", JL_PART_UNCHECKED, JL_SURE_SPEC,
		    "connector-8-pin-pcie connector-12-pin-16-pin-12vhpwr",
		    JL_N("each card needs %s; check that the supply has as many cables (psu_8pin)"),
		    isnan(r->gpu_8pin) ? text : "8-pin");
		return;
	}
	say(c, "connectors", need > r->psu_8pin ? JL_PART_ERROR : JL_PART_OK, JL_SURE_SPEC,
	    "connector-8-pin-pcie connector-12-pin-16-pin-12vhpwr",
	    JL_N("%g 8-pin cables needed (%s a card), the supply has %g"), need, text ? text : "8-pin", r->psu_8pin);
}

static void check_slots(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const double thick = card_slots(r),
		     openings = isnan(r->case_slots) ? figure(c, "build-case-slots") : r->case_slots;

	if (isnan(thick)) {
		unchecked(c, "slots", "gpu_slots");
		return;
	}
	const double need = thick * r->n_gpus, largest = figure(c, "build-case-slots-most");

	if (need > openings && isnan(r->case_slots) && need <= largest)
		say(c, "slots", JL_PART_WARNING, JL_SURE_SPEC, "rule-max-gpus-per-desktop-motherboard",
		    JL_N("%d cards of %g slots need a case with %g openings; most ATX cases have %g"), r->n_gpus, thick,
		    need, openings);
	else if (need > openings && thick <= 2)
		say(c, "slots", JL_PART_ERROR, JL_SURE_SPEC, "rule-max-gpus-per-desktop-motherboard",
		    JL_N("%d cards of %g slots need %g; the case has %g: a larger case, a server chassis, or PCIe "
			 "extenders"),
		    r->n_gpus, thick, need, openings);
	else if (need > openings)
		say(c, "slots", JL_PART_ERROR, JL_SURE_SPEC, "rule-max-gpus-per-desktop-motherboard",
		    isnan(r->case_slots) ? JL_N("%d cards of %g slots need %g; an ATX case has %g: use 2-slot (blower "
						"or water) cards, or PCIe extenders")
					 : JL_N("%d cards of %g slots need %g; a case has %g: use 2-slot (blower or "
						"water) cards, or PCIe extenders"),
		    r->n_gpus, thick, thick * r->n_gpus, openings);
	else if (!isnan(r->board_x16) && r->n_gpus > r->board_x16)
		say(c, "slots", JL_PART_ERROR, JL_SURE_SPEC, "", JL_N("%d cards, %g x16 slots on the board"), r->n_gpus,
		    r->board_x16);
	else if (r->n_gpus > 1 && isnan(r->board_spacing))
		unchecked(c, "slots", "board_spacing");
	else if (r->n_gpus > 1 && card_pitch(r) < thick)
		say(c, "slots", JL_PART_ERROR, r->spacing_assumed ? JL_SURE_OPINION : JL_SURE_SPEC, "",
		    r->spacing_assumed
			    ? JL_N("cards of %g slots do not fit side by side if the board's slots are %g apart, as "
				   "assumed: give board_spacing")
			    : JL_N("cards of %g slots do not fit side by side: the board's slots are %g apart"),
		    thick, card_pitch(r));
	else if (r->n_gpus > 1 && r->spacing_assumed)
		say(c, "slots", JL_PART_OK, JL_SURE_OPINION, "",
		    JL_N("%d x %g slots: they fit if the board's slots are %g apart, as assumed: give board_spacing"),
		    r->n_gpus, thick, card_pitch(r));
	else
		say(c, "slots", JL_PART_OK, JL_SURE_SPEC, "", JL_N("%d x %g slots: they fit"), r->n_gpus, thick);
}

static void check_cooling(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const double gap = card_pitch(r) - card_slots(r);

	if (r->cooling == JL_COOLING_PASSIVE) {
		say(c, "cooling", JL_PART_WARNING, JL_SURE_SPEC, "",
		    JL_N("passive cards need a server's air flow, not a desktop case"));
	} else if (r->n_gpus == 1) {
		say(c, "cooling", JL_PART_OK, JL_SURE_OPINION, "rule-air-cooling-ok", JL_N("one card: air is enough"));
	} else if (r->cooling == JL_COOLING_UNKNOWN) {
		unchecked(c, "cooling", "cooling");
	} else if (r->cooling == JL_COOLING_WATER) {
		say(c, "cooling", JL_PART_OK, JL_SURE_OPINION, "rule-water-cooling", JL_N("water-cooled"));
	} else if (r->cooling == JL_COOLING_OPEN_AIR && r->n_gpus >= figure(c, "build-crowded-cards")) {
		say(c, "cooling", JL_PART_ERROR, JL_SURE_MEASURED,
		    "rule-non-blower-adjacent-cards rule-blower-needed rule-water-cooling rule-throttle-temperature",
		    JL_N("%d open-air cards in one box heat each other and throttle (10 to 30 %% slower at 80 °C): "
			 "blower or water cooling"),
		    r->n_gpus);
	} else if (r->cooling == JL_COOLING_OPEN_AIR && !(gap >= 1)) {
		say(c, "cooling", isnan(gap) ? JL_PART_UNCHECKED : JL_PART_WARNING, JL_SURE_MEASURED,
		    "rule-air-cooling-ok rule-non-blower-adjacent-cards",
		    isnan(gap) ? JL_N("%d open-air cards need a free slot between them (board_spacing is not given)")
		    : r->spacing_assumed ? JL_N("%d open-air cards without a free slot between them (spacing of the "
						"slots assumed: board_spacing) lose 10 to 30 %%")
					 : JL_N("%d open-air cards without a free slot between them lose 10 to 30 %%"),
		    r->n_gpus);
	} else {
		say(c, "cooling", JL_PART_OK, JL_SURE_OPINION, "rule-air-cooling-ok rule-blower-penalty-multi-gpu",
		    r->cooling == JL_COOLING_BLOWER
			    ? JL_N("blower cards may stand side by side (10 to 15 %% slower than well cooled ones)")
			    : JL_N("open-air cards with a free slot between them"));
	}
}

static void check_lanes(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const double lanes = !isnan(r->board_lanes) ? r->board_lanes
			     : isnan(r->cpu_lanes)  ? NAN
						    : floor(r->cpu_lanes / r->n_gpus);

	const double least = figure(c, "build-lanes-least"), all = figure(c, "build-lanes-all");

	if (isnan(lanes)) {
		unchecked(c, "lanes", "board_lanes_per_gpu");
		return;
	}
	if (lanes >= least)
		say(c, "lanes", r->n_gpus > 1 && lanes < all ? JL_PART_CONFLICT : JL_PART_OK, JL_SURE_OPINION,
		    "rule-pcie-gen-lanes-matter rule-nvlink-worth-it",
		    lanes >= all ? JL_N("x%.0f for each card")
				 : JL_N("x%.0f for each card: enough for data parallel by one rule; tensor parallel "
					"and ZeRO are slower"),
		    fmin(lanes, all));
	else
		say(c, "lanes", JL_PART_WARNING, JL_SURE_OPINION, "rule-pcie-gen-lanes-matter",
		    JL_N("x%.0f for each card: gradients and data wait for the bus"), lanes);
}

static void check_case(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const double length = isnan(r->gpu_length_m) ? r->gpu->length_m.value : r->gpu_length_m;

	if (isnan(r->case_length_m) || isnan(length))
		unchecked(c, "case", "case_gpu_length");
	else
		say(c, "case", length > r->case_length_m ? JL_PART_ERROR : JL_PART_OK, JL_SURE_SPEC, "",
		    JL_N("the card is %.0f mm long, the case takes %.0f mm"), length * 1000, r->case_length_m * 1000);
}

static void check_ram(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const double vram = r->gpu->mem_B.value, GiB = 1024.0 * 1024 * 1024;

	if (isnan(r->ram_B) || isnan(vram)) {
		unchecked(c, "ram", "ram");
		return;
	}
	const double all = vram * r->n_gpus, ratio = figure(c, "build-ram-ratio"),
		     sold = figure(c, "build-ram-rounding");
	const enum jl_part_level level = r->ram_B < vram * sold          ? JL_PART_ERROR
					 : r->ram_B < ratio * all * sold ? JL_PART_CONFLICT
									 : JL_PART_OK;
	say(c, "ram", level, JL_SURE_OPINION, "rule-ram-vs-gpu rule-ram-second-opinion conflict-ram-rule",
	    level == JL_PART_OK      ? JL_N("%.0f GiB of RAM: twice the cards' %.0f GiB or more")
	    : level == JL_PART_ERROR ? JL_N("%.0f GiB of RAM is less than one card's memory (%.0f GiB)")
				     : JL_N("%.0f GiB of RAM: enough by one rule (the largest card), less than the "
					    "%.0f GiB (twice the cards' memory) that another asks"),
	    r->ram_B / GiB,
	    (level == JL_PART_ERROR      ? vram
	     : level == JL_PART_CONFLICT ? ratio * all
					 : all) /
		    GiB);
}

static void check_threads(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const bool before = r->input == JL_RIG_INPUT_BEFORE;
	const double each = figure(c, before ? "rule-cpu-threads-per-gpu-preprocessing-before-training"
					     : "rule-cpu-threads-per-gpu-preprocessing-while-training"),
		     need = each * r->n_gpus;

	if (isnan(r->cpu_threads)) {
		unchecked(c, "threads", "cpu_threads");
		return;
	}
	say(c, "threads", r->cpu_threads < need ? JL_PART_WARNING : JL_PART_OK, JL_SURE_OPINION,
	    before ? "rule-cpu-threads-per-gpu-preprocessing-before-training"
		   : "rule-cpu-threads-per-gpu-preprocessing-while-training rule-extra-cpu-core-per-gpu-gain",
	    before ? JL_N("%g CPU threads; %g needed (%g a card, data prepared before training)")
		   : JL_N("%g CPU threads; %g needed (%g a card, data prepared while training)"),
	    r->cpu_threads, need, each);
}

static void check_storage(const struct checking *c)
{
	const struct jl_rig *r = c->rig;

	if (isnan(r->ssd_B)) {
		unchecked(c, "storage", "ssd");
		return;
	}
	if (!isnan(r->data_B) && r->data_B > r->ssd_B)
		say(c, "storage", JL_PART_WARNING, JL_SURE_PHYSICS, "",
		    JL_N("the data (%.3g TB) does not fit on the SSD (%.3g TB): disks feed few cards"),
		    r->data_B / 1e12, r->ssd_B / 1e12);
	else
		say(c, "storage", JL_PART_OK, JL_SURE_OPINION, "", JL_N("SSD of %.3g TB"), r->ssd_B / 1e12);
}

static void check_circuit(const struct checking *c)
{
	const struct jl_rig *r = c->rig;
	const double limit = r->circuit_V * r->circuit_A * figure(c, "build-circuit-share"),
		     wall = c->out->load_W / figure(c, "build-psu-efficiency");

	if (isnan(limit) || isnan(wall))
		return;
	say(c, "circuit", wall > limit ? JL_PART_ERROR : JL_PART_OK, JL_SURE_PHYSICS,
	    "rule-4x-rtx-3090-blower-300-w-wall-peak",
	    JL_N("%.0f W from the wall, the circuit allows %.0f W continuously"), wall, limit);
}

static void check_links(const struct checking *c)
{
	const struct jl_rig *r = c->rig;

	if (r->n_gpus < 2)
		return;
	if (r->nvlink && !r->gpu->link)
		say(c, "nvlink", JL_PART_ERROR, JL_SURE_SPEC, "", JL_N("%s has no NVLink"), r->gpu->name);
	else if (r->gpu->link && strstr(r->gpu->link, "bridge"))
		say(c, "nvlink", JL_PART_CONFLICT, JL_SURE_OPINION,
		    "rule-nvlink-worth-it rule-sli-nvlink-gain-2x-3090-training conflict-nvlink-useful",
		    JL_N("a bridge joins two cards (%.0f GB/s one way); sources disagree: about 5 %% for data "
			 "parallel, needed for tensor parallel (see jeoul predict)"),
		    r->gpu->link_oneway_Bps.value / 1e9);
	if (r->gpu->p2p == JL_P2P_NO || r->gpu->p2p == JL_P2P_DRIVER_DISABLED)
		say(c, "p2p", JL_PART_WARNING, JL_SURE_SPEC, "conflict-rtx-3090-p2p",
		    JL_N("%s: no peer-to-peer over PCIe with the stock driver; every exchange crosses host memory"),
		    r->gpu->name);
}

/* Fills in power and threads of a known CPU; given values take precedence. */
static void know_cpu(const struct checking *c, struct jl_rig *rig)
{
	const struct jl_cpu *cpu;
	struct jl_err ignored;

	if (!rig->cpu)
		return;
	if (jl_find_cpu(&cpu, c->cat, rig->cpu, &ignored)) {
		say(c, "cpu", JL_PART_UNCHECKED, JL_SURE_SPEC, "",
		    JL_N("'%s' is not in the catalog: %.0f W are assumed; give cpu_power and cpu_threads"), rig->cpu,
		    figure(c, "build-cpu-power"));
		return;
	}
	if (isnan(rig->cpu_W))
		rig->cpu_W = cpu->tdp_W.value;
	if (isnan(rig->cpu_threads))
		rig->cpu_threads = isnan(cpu->n_thread.value) ? cpu->n_core.value : cpu->n_thread.value;
	say(c, "cpu", JL_PART_OK, JL_SURE_SPEC, "", JL_N("%s: %.0f W, %g threads"), cpu->name, rig->cpu_W,
	    rig->cpu_threads);
}

/* Fills in unset members from a part's specification: "board_x16_slots=2, board_spacing=3". */
static void know_part(const struct checking *c, struct jl_rig *rig, const char *kind, const char *text,
		      const char *wanted)
{
	const struct jl_rule *part = jl_part_named(c->cat, kind, text);
	const struct jl_where nowhere = { 0 };
	const bool spaced = !isnan(rig->board_spacing);
	char list[256], *rest = list, *piece, what[256];

	if (text && !part)
		say(c, kind, JL_PART_UNCHECKED, JL_SURE_SPEC, "",
		    JL_N("'%.60s' is not in the catalog: give what it has (%s)"), text, wanted);
	if (!part || !part->conditions)
		return;
	snprintf(list, sizeof list, "%s", part->conditions);
	while ((piece = strtok_r(rest, ",", &rest))) {
		char *equals = strchr(piece, '=');
		const char *key = piece + strspn(piece, " ");
		struct jl_err ignored;

		if (!equals)
			continue;
		*equals = '\0';
		if (!jl_rig_given(rig, key))
			(void)jl_rig_set(rig, key, equals + 1, &nowhere, c->cat, NULL, &ignored);
	}
	snprintf(what, sizeof what, "rule\004%s", part->value);
	const bool assumed = !part->source || strcmp(part->source, "jeoul-estimate") == 0;

	rig->spacing_assumed |= assumed && !spaced && !isnan(rig->board_spacing);
	say(c, kind, JL_PART_OK, assumed ? JL_SURE_OPINION : JL_SURE_SPEC, part->id, JL_N("%s: {%s}"), part->name,
	    what);
}

void jl_rig_check(struct jl_part_findings *ret_findings, const struct jl_rig *given, const struct jl_catalog *cat)
{
	static void (*const checks[])(const struct checking *c) = { check_psu,     check_transients, check_connectors,
								    check_slots,   check_cooling,    check_lanes,
								    check_case,    check_ram,        check_threads,
								    check_storage, check_circuit,    check_links };
	struct jl_rig rig = *given;
	struct checking c = { .out = ret_findings, .rig = &rig, .cat = cat };

	*ret_findings = (struct jl_part_findings){ 0 };
	know_cpu(&c, &rig);
	know_part(&c, &rig, "board", rig.board, "board_x16_slots, board_spacing, board_lanes_per_gpu");
	know_part(&c, &rig, "case", rig.case_name, "case_slots, case_gpu_length");
	know_part(&c, &rig, "psu", rig.psu_model, "psu");
	if (rig.cooling == JL_COOLING_UNKNOWN && jl_gpu_is_passive(rig.gpu))
		rig.cooling = JL_COOLING_PASSIVE;
	for (size_t i = 0; i < JL_LEN(checks); i++)
		checks[i](&c);
}

static const struct {
	const char *key, *en;
} levels[JL_N_PART_LEVEL] = {
	[JL_PART_OK] = { "ok", JL_N("ok") },
	[JL_PART_UNCHECKED] = { "unchecked", JL_N("not checked") },
	[JL_PART_CONFLICT] = { "conflict", JL_N("rules disagree") },
	[JL_PART_WARNING] = { "warning", JL_N("warning") },
	[JL_PART_ERROR] = { "error", JL_N("wrong") },
};

static const struct {
	const char *en;
} sures[JL_N_SURE] = {
	[JL_SURE_PHYSICS] = { JL_N("certain") },
	[JL_SURE_SPEC] = { JL_N("by specification") },
	[JL_SURE_MEASURED] = { JL_N("measured by others") },
	[JL_SURE_OPINION] = { JL_N("rule of thumb") },
};

const char *jl_part_level_key(enum jl_part_level level)
{
	return levels[level].key;
}

const char *jl_part_level_name(enum jl_part_level level)
{
	return jl_msg(levels[level].en);
}

const char *jl_part_sure_name(enum jl_part_sure sure)
{
	return sures[sure].en;
}
