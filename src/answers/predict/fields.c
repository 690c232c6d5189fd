/* Fields of cases and predictions for JSON. */
#include "predict/fields.h"

#include "predict/predict.h"

const struct jl_choice jl_recompute_choices[] = { { "none", JL_RECOMPUTE_NONE },
						  { "selective", JL_RECOMPUTE_SELECTIVE },
						  { "full", JL_RECOMPUTE_FULL },
						  { NULL, 0 } };

JL_NUMBER_OF(shard_of, jl_plan, r->shard > 0 ? r->shard : r->dp * r->cp);

static const struct jl_field parallel[] = {
	{ JL_FIELD(jl_plan, NUMBER, dp), .about = "data-parallel replicas" },
	{ JL_FIELD(jl_plan, NUMBER, tp), .about = "tensor parallel" },
	{ JL_FIELD(jl_plan, INT, sp), .about = "sequence parallel inside tp: 1 or 0" },
	{ JL_FIELD_AS(jl_plan, INT, tp_async, "overlap"), .about = "collectives of tp behind products: 1 or 0" },
	{ JL_FIELD(jl_plan, NUMBER, pp), .about = "pipeline stages" },
	{ JL_FIELD_AS(jl_plan, NUMBER, n_chunks, "vpp"), .about = "model chunks a stage" },
	{ JL_FIELD(jl_plan, NUMBER, cp), .about = "context parallel" },
	{ JL_FIELD(jl_plan, NUMBER, ep), .about = "expert parallel" },
	{ JL_FIELD(jl_plan, INT, zero), .about = "ZeRO stage; 3 is FSDP" },
	{ JL_FIELD_NUMBER_OF("shard", shard_of), .about = "ranks that states are cut over" },
};
const struct jl_schema jl_parallel_fields = JL_SCHEMA("parallel", jl_plan, parallel);

static const struct jl_field note[] = {
	{ JL_FIELD_AS(jl_note, TEXT, key, "option"), .about = "the option that would have said it" },
	{ JL_FIELD_AS(jl_note, CHARS, en, "why") },
};
const struct jl_schema jl_note_fields = JL_SCHEMA("assumption", jl_note, note);
