#include "topics/schemas.h"

#include "build/answer.h"
#include "check/answer.h"
#include "check/nodes.h"
#include "check/run.h"
#include "check/trace.h"
#include "cost/study.h"
#include "goodput/goodput.h"
#include "notes/fields.h"
#include "plan/answer.h"
#include "predict/fields.h"
#include "predict/kernels.h"
#include "predict/mixed.h"
#include "recommend/answer.h"
#include "serve/infer.h"
#include "topics/claims.h"
#include "topics/flops.h"
#include "topics/predict.h"
#include "topics/probe.h"
#include "topics/serve.h"
#include "topics/validate.h"

const struct jl_output_schema jl_output_schemas[] = {
	{ "audit", &jl_audit_fields },
	{ "audit-note", &jl_audit_audit_fields },
	{ "build", &jl_build_fields },
	{ "build-upgrade", &jl_upgrade_fields },
	{ "check", &jl_check_fields },
	{ "check-fleet", &jl_nodes_fields },
	{ "check-run", &jl_run_fields },
	{ "check-trace", &jl_trace_fields },
	{ "compare", &jl_compare_fields },
	{ "cost", &jl_cost_fields },
	{ "cost-bill", &jl_bill_fields },
	{ "cost-machine-bill", &jl_machine_bill_fields },
	{ "fit", &jl_fit_fields },
	{ "flops", &jl_flops_fields },
	{ "flops-program", &jl_program_flops_fields },
	{ "goodput", &jl_goodput_fields },
	{ "plan", &jl_plan_fields },
	{ "plan-batch-limit", &jl_batch_fields },
	{ "plan-fleet", &jl_fleet_fields },
	{ "predict", &jl_show_predicted_fields },
	{ "predict-collective", &jl_collective_fields },
	{ "predict-explain", &jl_explained_fields },
	{ "predict-kernels", &jl_kernels_fields },
	{ "predict-serve", &jl_serving_fields },
	{ "predict-mixed", &jl_mixed_fields },
	{ "predict-sweep", &jl_sweep_fields },
	{ "probe", &jl_probed_fields },
	{ "recommend", &jl_recommend_fields },
	{ "serve", &jl_infer_fields },
	{ "validate", &jl_validated_fields },
	{ NULL, NULL },
};
