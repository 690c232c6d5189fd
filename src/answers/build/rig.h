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
	double gpu_limit_W; /* power limit that is set; NAN: the card's own */
	double gpu_slots;   /* thickness of this maker's card; NAN: the reference card's */
	double gpu_length_m;
	double gpu_8pin; /* connectors of this maker's card; NAN: the reference card's */

	const char *psu_model; /* "Seasonic PRIME TX-1600"; NULL: only its figures */
	double psu_W, n_psu, psu_8pin, psu_12vhpwr;
	double psu_peak_W; /* peak power of one; NAN: unknown */
	bool psu_atx3;

	const char *board;
	double board_x16;     /* slots that take a card */
	double board_spacing; /* slots from one of them to the next */
	bool spacing_assumed; /* what boards of its kind usually have */
	double board_lanes;   /* lanes that each card gets when all are used */
	double board_pcie_gen;

	const char *cpu;
	double cpu_W, cpu_threads, cpu_lanes;
	enum jl_rig_input input;

	double ram_B;
	double ssd_B, hdd_B, data_B; /* data_B: the set that is trained on */

	const char *case_name;
	double case_slots;    /* expansion openings */
	double case_length_m; /* longest card */

	double circuit_V, circuit_A;
	bool nvlink; /* a bridge is planned */
};

struct jl_rig jl_rig_empty(void);

/* "gpu: 2x rtx-3090", "psu: 1600 W" ...; unknown keys, missing units and unknown cards are errors with their place. */
enum jl_status jl_rig_read(struct jl_rig *ret_rig, const struct jl_yaml *map, const struct jl_catalog *cat,
			   struct jl_arena *arena, struct jl_err *err);

/* One part from text, as `key=value` on the command line or a key of the file; `where` names the place. */
enum jl_status jl_rig_set(struct jl_rig *rig, const char *key, const char *text, const struct jl_where *where,
			  const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);

/* The row of catalog/parts.yaml whose name is in the text; NULL: none. */
const struct jl_rule *jl_part_named(const struct jl_catalog *cat, const char *kind, const char *text);

/* True if the number is set. */
bool jl_rig_given(const struct jl_rig *rig, const char *key);

/* Keys in the order they are shown in help; NULL ends. */
extern const char *const jl_rig_keys[];
