/* Fields of predictions for JSON. */
#include <math.h>

#include "predict/answer.h"
#include "predict/fields.h"
#include "predict/program_case.h"
#include "predict/technique.h"
#include "program/tune.h"

JL_NUMBER_OF(params, jl_case, jl_subject_params(&r->subject));
JL_TEXT_OF(precision, jl_case, jl_dtype_name(r->shard.dtype));
JL_TEXT_OF(framework, jl_case,
	   r->subject.program && r->subject.program->listed ? "transformers" : jl_framework_word(r->framework));

static const char *const *offload(const void *record)
{
	static const char *const sets[8][4] = { { NULL },
						{ "optimizer" },
						{ "params" },
						{ "optimizer", "params" },
						{ "activations" },
						{ "optimizer", "activations" },
						{ "params", "activations" },
						{ "optimizer", "params", "activations" } };
	const unsigned bits = (unsigned)((const struct jl_case *)record)->plan.offload;

	return sets[(bits & JL_OFFLOAD_OPTIMIZER ? 1 : 0) + (bits & JL_OFFLOAD_PARAMS ? 2 : 0) +
		    (bits & JL_OFFLOAD_ACTIVATIONS ? 4 : 0)];
}

/* Requested and available. */
JL_BOOL_OF(fused, jl_case,
	   r->shard.flash && !jl_transformer_spells_attention(&r->subject.model, r->shard.dtype, r->profile.fusion));
JL_BOOL_OF(is_tuned, jl_case, r->tuned);
JL_TEXT_OF(tune_kind, jl_case, jl_tune_name(r->shard.tune.kind));
JL_TEXT_OF(tune_base, jl_case, jl_base_name(r->shard.tune.base));
JL_NUMBER_OF(trained, jl_case, r->plan.trained_frac *jl_subject_params(&r->subject));

static const struct jl_choice methods[] = { { "sft", JL_METHOD_SFT },
					    { "dpo", JL_METHOD_DPO },
					    { "orpo", JL_METHOD_ORPO },
					    { "grpo", JL_METHOD_GRPO },
					    { NULL, 0 } };

static const struct jl_field tune[] = {
	{ JL_FIELD_TEXT_OF("kind", tune_kind),
	  .about = "full, lora, dora, adapter or layers; QLoRA is lora on a base of fewer bits" },
	{ JL_FIELD_TEXT_OF("base", tune_base), .about = "how frozen weights are kept" },
	{ JL_FIELD_AS(jl_case, NUMBER, shard.tune.rank, "rank") },
	{ JL_FIELD_NUMBER_OF("trained_params", trained) },
	{ JL_FIELD_AS(jl_case, CHOICE, method, "method"), .choices = methods },
};
static const struct jl_schema tune_schema = JL_SCHEMA("tune", jl_case, tune);

static const struct jl_field how[] = {
	{ JL_FIELD_AS(jl_case, TEXT, subject.id, "model") },
	{ JL_FIELD_NUMBER_OF("params", params) },
	{ JL_FIELD_AS(jl_case, TEXT, machine.sys.text, "system") },
	{ JL_FIELD(jl_case, INT, n_gpus) },
	{ JL_FIELD_AS(jl_case, NUMBER, shard.micro_batch, "micro_batch"), .about = "samples of one pass" },
	{ JL_FIELD_AS(jl_case, NUMBER, plan.n_micro, "accumulate"), .about = "passes of a step" },
	{ JL_FIELD(jl_case, NUMBER, global_batch), .about = "samples of a step, all devices" },
	{ JL_FIELD_AS(jl_case, NUMBER, shard.seq, "seq"), .about = "null: a network without sequences" },
	{ JL_FIELD_TEXT_OF("precision", precision), .about = "as --precision takes it" },
	{ JL_FIELD_TEXT_OF("framework", framework), .about = "as --framework takes it" },
	{ JL_FIELD_AS(jl_case, CHOICE, plan.recompute, "recompute"), .choices = jl_recompute_choices },
	{ JL_FIELD_BOOL_OF("flash", fused) },
	{ JL_FIELD_AS(jl_case, SUB, plan, "parallel"), .sub = &jl_parallel_fields },
	{ .member = "offload", .type = JL_F_TEXTS, .texts_of = offload },
	{ JL_FIELD_GROUP("tune", &tune_schema), .when = is_tuned },
};
const struct jl_schema jl_case_fields = JL_SCHEMA("case", jl_case, how);

/* --- the prediction */

static const struct jl_field breakdown[] = {
	{ JL_FIELD_AS(jl_step_cost, NUMBER, compute_s, "compute") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, host_s, "host_launch") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, tp_s, "tensor_parallel") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, cp_s, "context_parallel") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, ep_s, "expert_parallel") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, bubble_s, "pipeline_bubble") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, send_s, "pipeline_send") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, dp_s, "data_parallel") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, contention_s, "contention") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, optimizer_s, "optimizer") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, offload_s, "offload") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, generate_s, "generation") },
	{ JL_FIELD_AS(jl_step_cost, NUMBER, input_s, "input") },
};
static const struct jl_schema breakdown_schema = JL_SCHEMA("breakdown", jl_step_cost, breakdown);

static const struct jl_field memory[] = {
	{ JL_FIELD_AS(jl_prediction, NUMBER, memory.weights_B, "weights") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, memory.gradients_B, "gradients") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, memory.optimizer_B, "optimizer") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, memory.activations_B, "activations") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, memory.buffers_B, "buffers") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, memory.context_B, "context") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, memory.total_B, "total") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, capacity_B, "capacity") },
};
static const struct jl_schema memory_schema = JL_SCHEMA("memory", jl_prediction, memory);

static const struct jl_field host_memory[] = {
	{ JL_FIELD_AS(jl_prediction, NUMBER, host_B, "offloaded") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, ram_B, "capacity") },
};
static const struct jl_schema host_memory_schema = JL_SCHEMA("host_memory", jl_prediction, host_memory);

JL_TEXT_OF(input_kind, jl_prediction, jl_input_name(r->pipeline.kind));

static const struct jl_field input[] = {
	{ JL_FIELD_TEXT_OF("kind", input_kind) },
	{ JL_FIELD_AS(jl_prediction, NUMBER, input.threads_s, "threads_s") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, input.storage_s, "storage_s") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, pipeline.n_threads, "cpu_threads") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, pipeline.storage_Bps, "storage_Bps") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, pipeline.sample_B, "sample_B") },
	{ JL_FIELD_AS(jl_prediction, NUMBER, pipeline.sample_s, "decode_s") },
};
static const struct jl_schema input_schema = JL_SCHEMA("input", jl_prediction, input);

JL_TEXT_OF(rent_url, jl_rent, r->price ? r->price->url : NULL);

static const struct jl_field rent[] = {
	{ JL_FIELD_AS(jl_rent, NUMBER, usdps, "gpu_usdps") },
	{ JL_FIELD(jl_rent, TEXT, provider) },
	{ JL_FIELD(jl_rent, TEXT, item) },
	{ JL_FIELD(jl_rent, TEXT, date) },
	{ JL_FIELD_TEXT_OF("url", rent_url) },
	{ JL_FIELD_AS(jl_rent, NUMBER, most, "largest_offer_gpus") },
	{ JL_FIELD_AS(jl_rent, BOOL, apart, "hosts_not_joined"),
	  .about = "no network between the offer's hosts is known" },
};
static const struct jl_schema rent_fields = JL_SCHEMA("rent", jl_rent, rent);

JL_BOOL_OF(has_unit, jl_prediction, r->unit != NULL);
JL_BOOL_OF(offloads, jl_prediction, r->host_B > 0);
JL_BOOL_OF(fits, jl_prediction, r->room != JL_ROOM_NONE);
JL_TEXT_OF(bound_by, jl_prediction, r->step.input_s > 0 ? "input" : jl_parts[jl_bound_of(&r->step).part].key);
JL_TEXT_OF(scope, jl_prediction, r->whole_run ? "run" : "step");
JL_BOOL_OF(is_run, jl_prediction, r->whole_run);
JL_BOOL_OF(has_rent, jl_prediction, !isnan(r->rent.usdps));

static const struct jl_choice rooms[] = {
	{ "fits", JL_ROOM_FITS }, { "tight", JL_ROOM_TIGHT }, { "no", JL_ROOM_NONE }, { NULL, 0 }
};

/* --- a captured program */

#define T(M, KEY) JL_FIELD_AS(jl_prediction, NUMBER, timeline.M, KEY)

static void put_classes(struct jl_json *json, const void *record)
{
	const struct jl_timeline *t = &((const struct jl_prediction *)record)->timeline;

	jl_json_object(json);
	for (int i = 0; i < JL_N_OP_CLASS; i++) {
		if (!(t->class_kernels[i] > 0))
			continue;
		jl_json_key(json, jl_class_names[i]);
		jl_json_pack(json, "{device_s:f moved_B:f n_kernels:f}", t->class_s[i], t->class_B[i],
			     t->class_kernels[i]);
	}
	jl_json_end_object(json);
}

static const struct jl_field phase_device[] = {
	{ T(phase_s[JL_PHASE_INPUT], "input") },       { T(phase_s[JL_PHASE_FORWARD], "forward") },
	{ T(phase_s[JL_PHASE_BACKWARD], "backward") }, { T(phase_s[JL_PHASE_UPDATE], "update") },
	{ T(phase_s[JL_PHASE_OTHER], "other") },
};
static const struct jl_schema phase_device_schema = JL_SCHEMA("phase_device", jl_prediction, phase_device);
static const struct jl_field phase_host[] = {
	{ T(phase_host_s[JL_PHASE_INPUT], "input") },       { T(phase_host_s[JL_PHASE_FORWARD], "forward") },
	{ T(phase_host_s[JL_PHASE_BACKWARD], "backward") }, { T(phase_host_s[JL_PHASE_UPDATE], "update") },
	{ T(phase_host_s[JL_PHASE_OTHER], "other") },
};
static const struct jl_schema phase_host_schema = JL_SCHEMA("phase_host", jl_prediction, phase_host);

static const struct jl_field program[] = {
	{ T(track_s[JL_TRACK_DEVICE], "device_s"), .about = "kernels of a step, one after the other" },
	{ T(track_s[JL_TRACK_HOST], "host_s"), .about = "what the host needs to ask for them" },
	{ T(track_s[JL_TRACK_COMM], "collectives_s") },
	{ T(latency_s, "latency_s"), .about = "of one step by itself" },
	{ T(n_kernels, "n_kernels"), .about = "launches of a step" },
	{ T(flop, "flop") },
	{ T(moved_B, "moved_B"), .about = "read and written by all kernels" },
	{ JL_FIELD_AS(jl_prediction, NUMBER, allocated_B, "peak_B"), .about = "most that its tensors take at once" },
	{ JL_FIELD_GROUP("device_phase_s", &phase_device_schema) },
	{ JL_FIELD_GROUP("host_phase_s", &phase_host_schema) },
	{ .member = "classes", .type = JL_F_WRITTEN, .write = put_classes, .about = "by kind of call" },
};
static const struct jl_schema program_schema = JL_SCHEMA("program", jl_prediction, program);
JL_BOOL_OF(is_program, jl_prediction, r->timeline.n_kernels > 0);

static const struct jl_field prediction[] = {
	{ JL_FIELD(jl_prediction, ESTIMATE, step_s) },
	{ JL_FIELD(jl_prediction, ESTIMATE, samples_per_s) },
	{ JL_FIELD(jl_prediction, ESTIMATE, tokens_per_s) },
	{ JL_FIELD(jl_prediction, ESTIMATE, tokens_per_s_per_gpu) },
	{ JL_FIELD(jl_prediction, ESTIMATE, units_per_s), .when = has_unit },
	{ JL_FIELD(jl_prediction, TEXT, unit), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_prediction, NUMBER, mfu_frac) },
	{ JL_FIELD_AS(jl_prediction, SUB, step, "breakdown_s"), .sub = &breakdown_schema, .about = "sums to step_s" },
	{ JL_FIELD_GROUP("memory_B", &memory_schema), .about = "of one device at its peak; parts sum to total" },
	{ JL_FIELD_AS(jl_prediction, ESTIMATE, memory_B, "memory_peak_B"),
	  .about = "memory_B.total with its interval" },
	{ JL_FIELD_GROUP("program", &program_schema), .when = is_program,
	  .about = "of a captured program: one process" },
	{ JL_FIELD_GROUP("host_memory_B", &host_memory_schema), .when = offloads },
	{ JL_FIELD_BOOL_OF("fits", fits) },
	{ JL_FIELD(jl_prediction, CHOICE, room), .choices = rooms },
	{ JL_FIELD(jl_prediction, NUMBER, max_micro_batch) },
	{ JL_FIELD_TEXT_OF("bound_by", bound_by) },
	{ JL_FIELD_GROUP("input", &input_schema), .about = "what the input pipeline needs a step, hidden or not" },
	{ JL_FIELD(jl_prediction, NUMBER, steps_per_epoch), .when = is_run },
	{ JL_FIELD(jl_prediction, ESTIMATE, epoch_s), .when = is_run },
	{ JL_FIELD(jl_prediction, ESTIMATE, run_s), .when = is_run },
	{ JL_FIELD_TEXT_OF("scope", scope), .about = "of energy and cost" },
	{ JL_FIELD(jl_prediction, ESTIMATE, energy_J) },
	{ JL_FIELD_AS(jl_prediction, NUMBER, drawn_W, "power_W") },
	{ JL_FIELD(jl_prediction, NUMBER, host_power_W) },
	{ JL_FIELD(jl_prediction, ESTIMATE, cost_usd) },
	{ JL_FIELD(jl_prediction, SUB, rent), .sub = &rent_fields, .when = has_rent },
};
const struct jl_schema jl_prediction_fields = JL_SCHEMA("prediction", jl_prediction, prediction);

JL_NUMBER_OF(gain_frac, jl_advice, r->samples_per_s_after / r->samples_per_s_before - 1);

static const struct jl_field advice[] = {
	{ JL_FIELD_AS(jl_advice, TEXT, key, "change"), .about = "what is changed, in one word; \"text\" says it" },
	{ JL_FIELD_AS(jl_advice, CHARS, en, "text") },
	{ JL_FIELD(jl_advice, INT, n_gpus) },
	{ JL_FIELD_NUMBER_OF("gain_frac", gain_frac) },
	{ JL_FIELD(jl_advice, NUMBER, samples_per_s_before) },
	{ JL_FIELD(jl_advice, NUMBER, samples_per_s_after) },
	{ JL_FIELD(jl_advice, NUMBER, step_s_before) },
	{ JL_FIELD(jl_advice, NUMBER, step_s_after) },
	{ JL_FIELD(jl_advice, NUMBER, global_batch) },
};
static const struct jl_schema advice_schema = JL_SCHEMA("advice", jl_advice, advice);

/* --- whole answer, series */

static const struct jl_field assumed[] = {
	{ JL_FIELD_MANY(jl_case, ARRAY, notes.items, notes.n, "assumptions", &jl_note_fields) },
};
const struct jl_schema jl_assumed_fields = JL_SCHEMA("assumed", jl_case, assumed);

#define PART(M, SUB_)                                                                                                  \
	{                                                                                                              \
		JL_FIELD(jl_predicted, SUB, M), .sub = (SUB_), .flags = JL_FF_FLAT                                     \
	}
#define HOW PART(how, &jl_case_fields)
#define P   PART(p, &jl_prediction_fields)
#define ADVICE                                                                                                         \
	{                                                                                                              \
		JL_FIELD_MANY(jl_predicted, ARRAY, advice, n_advice, "advice", &advice_schema)                         \
	}
#define M(TYPE, NAME) JL_FIELD(jl_module_cost, TYPE, NAME)
static const struct jl_field module[] = {
	{ M(TEXT, name), .about = "the last part of its path; * stands for numbers" },
	{ JL_FIELD_AS(jl_module_cost, TEXT, type, "class") },
	{ M(INT, depth) },
	{ JL_FIELD_AS(jl_module_cost, NUMBER, n, "modules"), .about = "that the row stands for" },
	{ M(NUMBER, device_s), .about = "a step, with all that is below" },
	{ M(NUMBER, host_s) },
	{ M(NUMBER, n_kernels) },
	{ M(NUMBER, flop) },
	{ M(NUMBER, moved_B) },
	{ M(NUMBER, peak_B), .about = "of what it made, at the peak of memory" },
};
#undef M
static const struct jl_schema module_schema = JL_SCHEMA("module", jl_module_cost, module);
JL_BOOL_OF(has_modules, jl_predicted, r->modules.n > 0);
#define MODULES                                                                                                        \
	{                                                                                                              \
		JL_FIELD_MANY(jl_predicted, LIST, modules.rows, modules.n, "modules", &module_schema),                 \
			.when = has_modules, .about = "a tree, children behind their parent"                           \
	}
#define ASSUMED PART(how, &jl_assumed_fields)
static const struct jl_field predicted[] = { HOW, P, MODULES, ADVICE, ASSUMED };
const struct jl_schema jl_predicted_fields = JL_SCHEMA("predicted", jl_predicted, predicted);

static const struct jl_choice recipes[] = { { "same", JL_RECIPE_SAME },
					    { "indivisible", JL_RECIPE_INDIVISIBLE },
					    { "no_room", JL_RECIPE_NO_ROOM },
					    { NULL, 0 } };
JL_TEXT_OF(above, jl_predicted, r->efficiency_frac > JL_EFFICIENCY_PLAIN ? jl_parts[r->above.part].key : NULL);
static const struct jl_field swept[] = { HOW,
					 { JL_FIELD_AS(jl_predicted, NUMBER, speedup.value, "speedup") },
					 { JL_FIELD_AS(jl_predicted, ESTIMATE, speedup, "speedup_range") },
					 { JL_FIELD(jl_predicted, NUMBER, efficiency_frac) },
					 { JL_FIELD(jl_predicted, CHOICE, recipe), .choices = recipes },
					 { JL_FIELD_TEXT_OF("above_by", above) },
					 P,
					 ASSUMED };
static const struct jl_schema swept_schema = JL_SCHEMA("swept", jl_predicted, swept);
static const struct jl_field last[] = { ADVICE };
static const struct jl_schema last_schema = JL_SCHEMA("last", jl_predicted, last);

static const struct jl_field sweep[] = {
	{ JL_FIELD_MANY(jl_sweep, LIST, rows, n, "sweep", &swept_schema) },
	{ JL_FIELD(jl_sweep, SEEN, last), .sub = &last_schema, .flags = JL_FF_FLAT },
};
const struct jl_schema jl_sweep_fields = JL_SCHEMA("sweep", jl_sweep, sweep);

static double busbw_of(const struct jl_collective_case *c, double algbw_Bps)
{
	return algbw_Bps * c->busbw_factor;
}

JL_NUMBER_OF(busbw, jl_collective_case, busbw_of(r, r->algbw_Bps.value));
JL_NUMBER_OF(busbw_lo, jl_collective_case, busbw_of(r, r->algbw_Bps.lo));
JL_NUMBER_OF(busbw_hi, jl_collective_case, busbw_of(r, r->algbw_Bps.hi));

static const struct jl_field busbw_fields[] = {
	{ JL_FIELD_NUMBER_OF("value", busbw) },
	{ JL_FIELD_NUMBER_OF("lo", busbw_lo) },
	{ JL_FIELD_NUMBER_OF("hi", busbw_hi) },
};
static const struct jl_schema busbw_schema = JL_SCHEMA("busbw", jl_collective_case, busbw_fields);

JL_TEXT_OF(algorithm, jl_collective_case, jl_algorithm_name(r->algorithm));

static const struct jl_choice limits[] = { { "link", JL_LIMIT_LINK }, { "network", JL_LIMIT_NETWORK }, { NULL, 0 } };

#define C(TYPE, M) JL_FIELD(jl_collective_case, TYPE, M)
static const struct jl_field collective[] = {
	{ C(INT, n_nodes) },
	{ C(INT, n_ranks) },
	{ C(NUMBER, time_s) },
	{ C(ESTIMATE, algbw_Bps) },
	{ JL_FIELD_GROUP("busbw_Bps", &busbw_schema) },
	{ C(NUMBER, busbw_factor) },
	{ JL_FIELD_AS(jl_collective_case, NUMBER, bound_Bps, "bound_algbw_Bps") },
	{ JL_FIELD_AS(jl_collective_case, CHOICE, limit, "bound_by"), .choices = limits },
	{ JL_FIELD_AS(jl_collective_case, CHARS, limit_en, "bound_text") },
	{ JL_FIELD_AS(jl_collective_case, BOOL, in_network, "in_network_reduction") },
	{ C(BOOL, half_lanes), .about = "two cards of a desktop: half of the PCIe lanes each is assumed" },
	{ JL_FIELD_TEXT_OF("algorithm", algorithm) },
	{ C(NUMBER, n_steps) },
	{ JL_FIELD_AS(jl_collective_case, BOOL, seen, "links_seen") },
};
static const struct jl_schema collective_schema = JL_SCHEMA("collective", jl_collective_case, collective);

JL_TEXT_OF(collective_name, jl_collective_series, jl_collective_name(r->ask.kind));

static const struct jl_field series[] = {
	{ JL_FIELD_TEXT_OF("collective", collective_name) },
	{ JL_FIELD_AS(jl_collective_series, NUMBER, ask.size_B, "size_B") },
	{ JL_FIELD_AS(jl_collective_series, TEXT, sys.text, "system") },
	{ JL_FIELD_MANY(jl_collective_series, LIST, cases, n, "series", &collective_schema) },
};
const struct jl_schema jl_collective_fields = JL_SCHEMA("collective_series", jl_collective_series, series);

/* --- estimates by hand */

JL_NUMBER_OF(cycles_ratio, jl_cycles, r->without_cycles / r->with_cycles);
JL_NUMBER_OF(product_ratio, jl_product_time, r->vector_s / r->tensor_s);

static double quoted_ratio(const void *record)
{
	(void)record;
	return JL_QUOTED_BPS / JL_QUOTED_BASE_BPS;
}

static const struct jl_field cycles[] = {
	{ JL_FIELD(jl_cycles, NUMBER, n) },
	{ JL_FIELD(jl_cycles, NUMBER, without_cycles) },
	{ JL_FIELD(jl_cycles, NUMBER, with_cycles) },
	{ JL_FIELD_NUMBER_OF("ratio", cycles_ratio) },
};
static const struct jl_schema cycles_schema = JL_SCHEMA("cycles", jl_cycles, cycles);

static const struct jl_field product[] = {
	{ JL_FIELD(jl_product_time, NUMBER, n) },
	{ JL_FIELD(jl_product_time, NUMBER, vector_s) },
	{ JL_FIELD(jl_product_time, NUMBER, tensor_s) },
	{ JL_FIELD_NUMBER_OF("ratio", product_ratio) },
};
static const struct jl_schema product_schema = JL_SCHEMA("product", jl_product_time, product);

#define PARTS(M)                                                                                                       \
	{ JL_FIELD_AS(jl_explain, NUMBER, M[JL_EX_MATRIX], "matrix") },                                                \
		{ JL_FIELD_AS(jl_explain, NUMBER, M[JL_EX_MEMORY], "memory") },                                        \
		{ JL_FIELD_AS(jl_explain, NUMBER, M[JL_EX_HOST], "host") },                                            \
		{ JL_FIELD_AS(jl_explain, NUMBER, M[JL_EX_LINKS], "links") },                                          \
	{                                                                                                              \
		JL_FIELD_AS(jl_explain, NUMBER, M[JL_EX_OTHER], "other")                                               \
	}
static const struct jl_field sample[] = { PARTS(part_s) }, base_sample[] = { PARTS(base_part_s) };
static const struct jl_schema sample_schema = JL_SCHEMA("sample", jl_explain, sample),
			      base_sample_schema = JL_SCHEMA("baseline_sample", jl_explain, base_sample);

#define X(TYPE, M, KEY) JL_FIELD_AS(jl_explained, TYPE, M, KEY)
static const struct jl_field by_hand[] = {
	{ X(TEXT, base.machine.sys.text, "baseline") },
	{ X(NUMBER, how.machine.dev.mem_Bps, "mem_Bps") },
	{ X(NUMBER, base.machine.dev.mem_Bps, "baseline_mem_Bps") },
	{ X(NUMBER, e.bandwidth_ratio, "bandwidth_ratio") },
	{ JL_FIELD_NUMBER_OF("quoted_a100_v100_ratio", quoted_ratio) },
	{ X(NUMBER, e.rate_ratio, "matrix_rate_ratio") },
	{ X(NUMBER, e.device_ratio, "device_ratio") },
	{ X(NUMBER, e.model_ratio, "model_ratio") },
	{ X(NUMBER, e.model_device_ratio, "model_device_ratio") },
	{ X(SUB, e, "sample_s"), .sub = &sample_schema },
	{ X(SUB, e, "baseline_sample_s"), .sub = &base_sample_schema },
	{ X(ARRAY, cycles, "tensor_core_cycles"), .sub = &cycles_schema, .length = JL_N_EXAMPLE },
	{ X(ARRAY, products, "product"), .sub = &product_schema, .length = JL_N_EXAMPLE },
};
static const struct jl_schema by_hand_schema = JL_SCHEMA("explain", jl_explained, by_hand);

static const struct jl_field explained[] = {
	{ JL_FIELD(jl_explained, SUB, how), .sub = &jl_case_fields, .flags = JL_FF_FLAT },
	{ JL_FIELD_GROUP("explain", &by_hand_schema) },
};
const struct jl_schema jl_explained_fields = JL_SCHEMA("explained", jl_explained, explained);

JL_BOOL_OF(is_possible, jl_technique, r->possible);
JL_BOOL_OF(is_impossible, jl_technique, !r->possible);
JL_BOOL_OF(technique_fits, jl_technique, r->room != JL_ROOM_NONE);
JL_NUMBER_OF(technique_cost, jl_technique, r->room == JL_ROOM_NONE ? NAN : r->cost_frac);

#define W(M, KEY) JL_FIELD_AS(jl_technique, NUMBER, M, KEY), .when = is_possible
static const struct jl_field technique[] = {
	{ JL_FIELD_AS(jl_technique, TEXT, key, "technique") },
	{ JL_FIELD(jl_technique, BOOL, possible) },
	{ JL_FIELD_BOOL_OF("fits", technique_fits), .when = is_possible },
	{ JL_FIELD(jl_technique, CHOICE, room), .choices = rooms, .when = is_possible },
	{ W(weight.memory.total_B, "memory_B") },
	{ W(how.machine.dev.mem_B, "capacity_B") },
	{ W(weight.host_B, "host_memory_B") },
	{ W(how.ram_B, "host_capacity_B") },
	{ W(weight.step.offload_s, "offload_s") },
	{ W(weight.step.step_s, "step_s") },
	{ JL_FIELD_NUMBER_OF("cost_frac", technique_cost), .when = is_possible },
	{ JL_FIELD(jl_technique, SUB, how), .sub = &jl_case_fields, .flags = JL_FF_FLAT, .when = is_possible },
	{ JL_FIELD(jl_technique, WHY, why), .when = is_impossible },
};
static const struct jl_schema technique_schema = JL_SCHEMA("technique", jl_technique, technique);

static const struct jl_field fit[] = {
	{ JL_FIELD_MANY(jl_fit, ARRAY, rows, n, "techniques", &technique_schema) },
};
const struct jl_schema jl_fit_fields = JL_SCHEMA("fit", jl_fit, fit);
