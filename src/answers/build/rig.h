/* A parts list. Unset members are NAN or NULL and are not checked. */
#pragma once

#include "base/yaml.h"
#include "catalog/catalog.h"

enum jl_rig_cooling {
	JL_COOLING_UNKNOWN,
	JL_COOLING_OPEN_AIR,
	JL_COOLING_BLOWER,
	JL_COOLING_WATER,
	JL_COOLING_PASSIVE,
	JL_N_COOLING
};
enum jl_rig_input { JL_RIG_INPUT_UNKNOWN, JL_RIG_INPUT_WHILE, JL_RIG_INPUT_BEFORE, JL_N_RIG_INPUT };

struct jl_rig {
	const char *name;
	const struct jl_gpu *gpu;
	int n_gpus;
	enum jl_rig_cooling cooling;
	double gpu_limit_W; /* configured power limit; NAN: the card's default */
	double gpu_slots;   /* thickness of this maker's card in slots; NAN: the reference card's */
	double gpu_length_m;
	double gpu_8pin; /* connectors of this maker's card; NAN: the reference card's */

	const char *psu_model; /* e.g. "Seasonic PRIME TX-1600"; NULL: not given */
	double psu_W, n_psu, psu_8pin, psu_12vhpwr;
	double psu_peak_W; /* peak power of one supply; NAN: unknown */
	bool psu_atx3;

	const char *board;
	double board_x16;     /* slots usable for cards */
	double board_spacing; /* distance between them in slots */
	bool spacing_assumed; /* board_spacing is the usual value of this kind of board */
	double board_lanes;   /* PCIe lanes per card when all slots are used */
	double board_pcie_gen;

	const char *cpu;
	double cpu_W, cpu_threads, cpu_lanes;
	enum jl_rig_input input;

	double ram_B;
	double ssd_B, hdd_B, data_B; /* data_B: training data */

	const char *case_name;
	double case_slots;    /* expansion slots */
	double case_length_m; /* maximum card length */

	double circuit_V, circuit_A;
	bool nvlink; /* an NVLink bridge is planned */
};

struct jl_rig jl_rig_empty(void);

/* Parses "gpu: 2x rtx-3090", "psu: 1600 W" ...; unknown keys, missing units and unknown cards are errors with their place. */
enum jl_status jl_rig_read(struct jl_rig *ret_rig, const struct jl_yaml *map, const struct jl_catalog *cat,
			   struct jl_arena *arena, struct jl_err *err);

/* Sets one part from text, from `key=value` on the command line or a key of a file; `where` is its place for messages. */
enum jl_status jl_rig_set(struct jl_rig *rig, const char *key, const char *text, const struct jl_where *where,
			  const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);

/* Finds the row of catalog/parts.yaml whose name occurs in the text; NULL: none. */
const struct jl_rule *jl_part_named(const struct jl_catalog *cat, const char *kind, const char *text);

/* True if the number under `key` is set. */
bool jl_rig_given(const struct jl_rig *rig, const char *key);

/* Keys in display order; NULL-terminated. */
extern const char *const jl_rig_keys[];
