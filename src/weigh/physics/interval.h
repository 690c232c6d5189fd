/* How far off a prediction may be: half widths, as ln, that hold four fifths of the published rows when their group is left
 * out of the fit. One rule for the score card and for what a person is told. */
#ifndef JL_PHYSICS_INTERVAL_H
#define JL_PHYSICS_INTERVAL_H

#include <stdbool.h>

#include "model/profile.h"
#include "physics/link_params.h"

struct jl_link_doubt {
	enum jl_wire intra, inter;
	double n_nodes;
	bool path_assumed;    /* nobody says how devices reach each other */
	bool network_assumed; /* nobody says how fast the network is */
};
double jl_link_half_ln(const struct jl_link_doubt *doubt);

/* What had to be assumed about a training run because nobody says. */
enum jl_train_assumed {
	JL_ASSUMED_SHAPE = 1,
	JL_ASSUMED_BATCH = 2,
	JL_ASSUMED_PLAN = 4,
	JL_ASSUMED_NETWORK = 8,
	JL_ASSUMED_RECOMPUTE = 16,
	JL_ASSUMED_FRAMEWORK = 32
};

struct jl_train_doubt {
	enum jl_framework framework;
	double n_gpus, n_nodes;
	bool device_seen;    /* the GPU had runs of its own in the fit */
	unsigned assumed;    /* enum jl_train_assumed */
	double exposed_frac; /* share of the step that waits for links; 0 where the rows' own width already has it */
	double link_half_ln; /* how sure the links are; see jl_link_half_ln */
	double host_frac;    /* share of the step in which the device waits for the host's launches */
};
double jl_train_half_ln(const struct jl_train_doubt *doubt);

#endif
