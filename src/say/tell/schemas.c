#include "tell/schemas.h"

#include "cost/fields.h"
#include "predict/fields.h"

const struct jl_told jl_told[] = {
	{ "compare", &jl_compare_fields },
	{ "cost", &jl_cost_fields },
	{ "cost-bill", &jl_bill_fields },
	{ "cost-machine-bill", &jl_machine_bill_fields },
	{ NULL, NULL },
};
