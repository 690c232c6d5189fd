#include "tell/schemas.h"

#include "cost/fields.h"
#include "predict/fields.h"
#include "tell/predict.h"

const struct jl_told jl_told[] = {
	{ "compare", &jl_compare_fields },
	{ "cost", &jl_cost_fields },
	{ "cost-bill", &jl_bill_fields },
	{ "predict", &jl_tell_predicted_fields },
	{ "predict-collective", &jl_collective_fields },
	{ "predict-explain", &jl_explained_fields },
	{ "predict-sweep", &jl_sweep_fields },
	{ NULL, NULL },
};
