#include "catalog/schema.h"

#include <string.h>

#define UNKNOWN __builtin_nan("")

/* Rows. S is the struct, M the member; the key is the member's name unless it is given. */
#define ROW(S, M, KEY, TYPE, ...)                                                                                      \
	{                                                                                                              \
		.key = KEY, .member = #M, .type = JL_F_##TYPE, .offset = offsetof(struct S, M), __VA_ARGS__            \
	}
#define TEXT(S, M, FLAGS)               ROW(S, M, #M, TEXT, .flags = (FLAGS))
#define TEXT_AS(S, M, KEY, FLAGS)       ROW(S, M, KEY, TEXT, .flags = (FLAGS))
#define DATE(S, M, KEY, FLAGS)          ROW(S, M, KEY, DATE, .flags = (FLAGS))
#define REF(S, M, FLAGS, RECORD, ROLES) ROW(S, M, #M, TEXT, .flags = (FLAGS), .ref = 1 + (RECORD), .ref_roles = (ROLES))
#define FACT(S, M, KEY, KIND)           ROW(S, M, KEY, FACT, .kind = (KIND))
#define NUMBER(S, M, FLAGS, ABSENT)     ROW(S, M, #M, NUMBER, .flags = (FLAGS), .if_absent = (ABSENT), .scale = 1)
#define COLUMN(S, M, KEY, SCALE)        ROW(S, M, KEY, NUMBER, .if_absent = UNKNOWN, .scale = (SCALE))
#define INT(S, M, FLAGS)                ROW(S, M, #M, INT, .flags = (FLAGS))
#define BOOL(S, M)                      ROW(S, M, #M, BOOL, .flags = 0)
#define CHOICE(S, M, FLAGS, CHOICES)    ROW(S, M, #M, CHOICE, .flags = (FLAGS), .choices = (CHOICES))
#define TEXTS(S, M)                     ROW(S, M, #M, TEXTS, .flags = 0)
#define LIST(S, M, SUB)                 ROW(S, M, #M, LIST, .count_offset = offsetof(struct S, n_##M), .sub = (SUB))
#define SUB(S, M, SCHEMA)               ROW(S, M, #M, SUB, .sub = (SCHEMA))
/* Schemas of records inside others. */
#define PART(LISTED, TYPE, FIELDS, EN, OMIT)                                                                           \
	{                                                                                                              \
		.list = (LISTED), .en = EN, .c_type = "struct " #TYPE, .size_B = sizeof(struct TYPE),                  \
		.fields = (FIELDS), .n_fields = JL_LEN(FIELDS), .omit_unknown = (OMIT)                                 \
	}
#define SOURCE(S) REF(S, source, JL_FF_REQUIRED | JL_FF_SOURCE, JL_R_SOURCE, 0)
#define ID(S)     TEXT(S, id, JL_FF_REQUIRED | JL_FF_ID)
#define NAME(S)   TEXT(S, name, JL_FF_REQUIRED)
#define DATED(S)  DATE(S, date, "date", JL_FF_REQUIRED | JL_FF_DATED)

#define WIRE    (1U << JL_ROLE_WIRE)
#define JOIN    (1U << JL_ROLE_JOIN)
#define NETWORK (1U << JL_ROLE_NETWORK)

static const struct jl_choice origins[] = { { "measured", JL_MEASURED },
					    { "published", JL_PUBLISHED },
					    { "listed", JL_LISTED },
					    { "estimated", JL_ESTIMATED },
					    { NULL, 0 } };
/* The first name of a value is the one that messages show; the others are what YAML writers also put. */
static const struct jl_choice p2ps[] = { { "yes", JL_P2P_YES },
					 { "true", JL_P2P_YES },
					 { "no", JL_P2P_NO },
					 { "false", JL_P2P_NO },
					 { "driver-disabled", JL_P2P_DRIVER_DISABLED },
					 { "driver_disabled", JL_P2P_DRIVER_DISABLED },
					 { "unknown", JL_P2P_UNKNOWN },
					 { NULL, 0 } };
static const struct jl_choice roles[] = { { "wire", JL_ROLE_WIRE },
					  { "join", JL_ROLE_JOIN },
					  { "network", JL_ROLE_NETWORK },
					  { "switch", JL_ROLE_SWITCH },
					  { NULL, 0 } };

static const struct jl_field source_fields[] = {
	ID(jl_source),
	TEXT(jl_source, title, JL_FF_REQUIRED),
	TEXT(jl_source, url, 0),
	DATE(jl_source, date, "date", JL_FF_REQUIRED),
	CHOICE(jl_source, origin, JL_FF_REQUIRED, origins),
	TEXT(jl_source, note, 0),
};

static const struct jl_field conflict_fields[] = {
	TEXT(jl_conflict, field, JL_FF_REQUIRED),
	TEXT(jl_conflict, other, JL_FF_REQUIRED),
	REF(jl_conflict, source, JL_FF_REQUIRED, JL_R_SOURCE, 0),
	TEXT(jl_conflict, why, JL_FF_REQUIRED),
};
static const struct jl_schema conflict_schema = PART("conflicts", jl_conflict, conflict_fields, JL_N("conflict"), true);

#define NEEDED(M) NUMBER(jl_priors, M, JL_FF_REQUIRED | JL_FF_POSITIVE, 0.0)
#define TRAIT(M)  BOOL(jl_priors, M)
static const struct jl_field priors_fields[] = {
	NEEDED(n_sm),
	NEEDED(vector_frac),
	NEEDED(tensor16_frac),
	NEEDED(tensor8_frac),
	NEEDED(mem_frac),
	NEEDED(sm_frac),
	NEEDED(tail_frac),
	NEEDED(read_frac),
	NEEDED(train_tensor16_frac),
	NEEDED(vector_pJ),
	NEEDED(tensor16_pJ),
	NEEDED(tensor8_pJ),
	NEEDED(flop_gain),
	NEEDED(byte_gain),
	NEEDED(align_frac),
	NUMBER(jl_priors, turned_frac, 0, 0.0),
	NEEDED(dequant_frac),
	NEEDED(flash_frac),
	NUMBER(jl_priors, wide_B, 0, 0.0),
	NUMBER(jl_priors, net_Gbps, 0, 0.0),
	TRAIT(no_tensor),
	TRAIT(no_tf32),
	TRAIT(mixed16),
	TRAIT(bf16),
	TRAIT(flash),
	TRAIT(fp8),
	TRAIT(warpgroup),
	TRAIT(slow_fp8),
	TRAIT(slots_via_host),
	TRAIT(conv_rows),
	TRAIT(serve_rows),
};
static const struct jl_schema priors_schema = PART("priors", jl_priors, priors_fields, JL_N("priors block"), false);

static const struct jl_field family_fields[] = {
	ID(jl_family),
	NAME(jl_family),
	TEXT(jl_family, vendor, JL_FF_REQUIRED),
	REF(jl_family, parent, 0, JL_R_FAMILY, 0),
	NUMBER(jl_family, fp32_per_sm_clock, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_family, tf32_per_sm_clock, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_family, fp16_per_sm_clock, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_family, bf16_per_sm_clock, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_family, fp8_per_sm_clock, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_family, int8_per_sm_clock, JL_FF_POSITIVE, UNKNOWN),
	BOOL(jl_family, sparsity),
	INT(jl_family, n_dies, 0),
	INT(jl_family, tensor_generation, 0),
	REF(jl_family, host_net, 0, JL_R_LINK, NETWORK),
	INT(jl_family, n_host_net, 0),
	SUB(jl_family, priors, &priors_schema),
	SOURCE(jl_family),
	TEXT(jl_family, note, 0),
};

#define JL_X(member, key, kind, en) FACT(jl_gpu, member, key, kind),
static const struct jl_field gpu_fields[] = { ID(jl_gpu),
					      NAME(jl_gpu),
					      TEXTS(jl_gpu, aliases),
					      TEXT(jl_gpu, vendor, JL_FF_REQUIRED),
					      REF(jl_gpu, family, JL_FF_REQUIRED, JL_R_FAMILY, 0),
					      REF(jl_gpu, computes_as, 0, JL_R_GPU, 0),
					      TEXT(jl_gpu, architecture, 0),
					      TEXT(jl_gpu, compute_capability, 0),
					      INT(jl_gpu, year, 0),
					      TEXT(jl_gpu, memory_type, 0),
					      REF(jl_gpu, pcie, 0, JL_R_LINK, WIRE),
					      REF(jl_gpu, link, 0, JL_R_LINK, WIRE),
					      TEXT(jl_gpu, link_text, 0),
					      CHOICE(jl_gpu, p2p, 0, p2ps),
					      TEXT(jl_gpu, p2p_note, 0),
					      TEXT(jl_gpu, form_factor, 0),
					      TEXT(jl_gpu, power_connectors, 0),
					      TEXT(jl_gpu, msrp_basis, 0),
					      TEXT(jl_gpu, density_note, 0),
					      TEXT(jl_gpu, note, 0),
					      SOURCE(jl_gpu),
					      DATED(jl_gpu),
					      LIST(jl_gpu, conflicts, &conflict_schema),
					      JL_GPU_FACTS(JL_X) };
#undef JL_X

#define JL_X(member, key, kind, en) FACT(jl_cpu, member, key, kind),
static const struct jl_field cpu_fields[] = { ID(jl_cpu),
					      NAME(jl_cpu),
					      TEXTS(jl_cpu, aliases),
					      TEXT(jl_cpu, vendor, JL_FF_REQUIRED),
					      TEXT(jl_cpu, isa, JL_FF_REQUIRED),
					      INT(jl_cpu, year, 0),
					      TEXT(jl_cpu, note, 0),
					      SOURCE(jl_cpu),
					      DATED(jl_cpu),
					      JL_CPU_FACTS(JL_X) };
#undef JL_X

static const struct jl_field measured_fields[] = {
	TEXT(jl_link_measured, what, 0),
	TEXT(jl_link_measured, gpu, 0),
	FACT(jl_link_measured, oneway_Bps, "oneway", JL_K_BYTE_RATE),
	FACT(jl_link_measured, bothway_Bps, "bothway", JL_K_BYTE_RATE),
	FACT(jl_link_measured, measured_Bps, "measured", JL_K_BYTE_RATE),
	/* not JL_K_FRACTION: with reduction in the switch more arrives than the wire is listed at */
	FACT(jl_link_measured, frac, "frac", JL_K_NUMBER),
	TEXT(jl_link_measured, conditions, 0),
	TEXT(jl_link_measured, note, 0),
	SOURCE(jl_link_measured),
	DATED(jl_link_measured),
};
static const struct jl_schema measured_schema = PART("measured", jl_link_measured, measured_fields, JL_N("measurement"),
						     true);

static const struct jl_field link_fields[] = {
	ID(jl_link_info),
	NAME(jl_link_info),
	TEXTS(jl_link_info, aliases),
	CHOICE(jl_link_info, role, JL_FF_REQUIRED, roles),
	TEXT(jl_link_info, kind, JL_FF_REQUIRED),
	TEXT(jl_link_info, topology, 0),
	REF(jl_link_info, wire, 0, JL_R_LINK, 0),
	TEXT(jl_link_info, per, 0),
	REF(jl_link_info, fallback, 0, JL_R_LINK, JOIN),
	TEXT(jl_link_info, gpus, 0),
	INT(jl_link_info, host_max, 0),
	TEXT(jl_link_info, form, 0),
	BOOL(jl_link_info, in_switch_reduction),
	FACT(jl_link_info, oneway_Bps, "oneway", JL_K_BYTE_RATE),
	FACT(jl_link_info, bothway_Bps, "bothway", JL_K_BYTE_RATE),
	FACT(jl_link_info, n_links, "n_links", JL_K_NUMBER),
	TEXT(jl_link_info, conditions, 0),
	TEXT(jl_link_info, note, 0),
	SOURCE(jl_link_info),
	DATED(jl_link_info),
	LIST(jl_link_info, measured, &measured_schema),
};

#define JL_X(member, key, kind, en) FACT(jl_system, member, key, kind),
static const struct jl_field system_fields[] = { ID(jl_system),
						 NAME(jl_system),
						 TEXTS(jl_system, aliases),
						 TEXT(jl_system, kind, JL_FF_REQUIRED),
						 TEXT(jl_system, vendor, JL_FF_REQUIRED),
						 REF(jl_system, gpu, 0, JL_R_GPU, 0),
						 TEXT(jl_system, gpu_text, 0),
						 INT(jl_system, n_gpu, 0),
						 TEXT(jl_system, gpu_memory_text, 0),
						 REF(jl_system, join, 0, JL_R_LINK, JOIN),
						 TEXT(jl_system, join_text, 0),
						 TEXT(jl_system, switch_text, 0),
						 REF(jl_system, net, 0, JL_R_LINK, NETWORK),
						 TEXT(jl_system, net_text, 0),
						 INT(jl_system, n_net, 0),
						 TEXT(jl_system, cpu, 0),
						 TEXT(jl_system, status, 0),
						 TEXT(jl_system, note, 0),
						 SOURCE(jl_system),
						 DATED(jl_system),
						 LIST(jl_system, conflicts, &conflict_schema),
						 JL_SYSTEM_FACTS(JL_X) };
#undef JL_X

static const struct jl_field tariff_fields[] = {
	ID(jl_tariff),
	NAME(jl_tariff),
	TEXT(jl_tariff, region, JL_FF_REQUIRED),
	TEXT(jl_tariff, component, JL_FF_REQUIRED),
	NUMBER(jl_tariff, from_kWh, 0, UNKNOWN),
	NUMBER(jl_tariff, to_kWh, 0, UNKNOWN),
	TEXT(jl_tariff, season, 0),
	TEXT(jl_tariff, band, 0),
	TEXT(jl_tariff, value, JL_FF_REQUIRED),
	TEXT(jl_tariff, conditions, 0),
	DATED(jl_tariff),
	SOURCE(jl_tariff),
	TEXT(jl_tariff, note, 0),
};

static const struct jl_field rule_fields[] = {
	ID(jl_rule),
	TEXT(jl_rule, kind, JL_FF_REQUIRED),
	NAME(jl_rule),
	TEXT(jl_rule, subject, 0),
	TEXT(jl_rule, value, JL_FF_REQUIRED),
	NUMBER(jl_rule, figure, 0, UNKNOWN),
	TEXT(jl_rule, unit, 0),
	TEXT(jl_rule, conditions, 0),
	DATED(jl_rule),
	SOURCE(jl_rule),
	TEXT(jl_rule, note, 0),
};

#define DAY_S 86400.0
static const struct jl_field reliability_fields[] = {
	ID(jl_reliability),
	NAME(jl_reliability),
	TEXT(jl_reliability, gpu, 0),
	NUMBER(jl_reliability, n_gpu, JL_FF_REQUIRED | JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_reliability, n_per_node, JL_FF_POSITIVE, 8.0),
	COLUMN(jl_reliability, window_s, "days", DAY_S),
	COLUMN(jl_reliability, n_failures, "failures", 1),
	COLUMN(jl_reliability, n_planned, "planned", 1),
	COLUMN(jl_reliability, failures_per_node_day, "failures_per_node_day", 1),
	COLUMN(jl_reliability, mttf_s, "mttf_hours", 3600),
	COLUMN(jl_reliability, effective_frac, "effective", 1),
	BOOL(jl_reliability, at_least),
	BOOL(jl_reliability, pooled),
	TEXT(jl_reliability, seen, JL_FF_REQUIRED),
	TEXT(jl_reliability, note, 0),
	SOURCE(jl_reliability),
	DATED(jl_reliability),
};

static const struct jl_field moe_fields[] = {
	INT(jl_model_moe, n_experts, JL_FF_REQUIRED),
	INT(jl_model_moe, top_k, JL_FF_REQUIRED),
	INT(jl_model_moe, n_shared, 0),
	INT(jl_model_moe, n_dense_layers, 0),
	NUMBER(jl_model_moe, expert_ffn, 0, 0.0),
};
static const struct jl_schema moe_schema = PART("moe", jl_model_moe, moe_fields, JL_N("moe block"), true);
static const struct jl_field mla_fields[] = {
	NUMBER(jl_model_mla, q_lora, 0, 0.0),   NUMBER(jl_model_mla, kv_lora, JL_FF_REQUIRED, 0.0),
	NUMBER(jl_model_mla, rope_dim, 0, 0.0), NUMBER(jl_model_mla, nope_dim, 0, 0.0),
	NUMBER(jl_model_mla, v_dim, 0, 0.0),
};
static const struct jl_schema mla_schema = PART("mla", jl_model_mla, mla_fields, JL_N("mla block"), true);

#define HAS(M) BOOL(jl_model_info, M)
static const struct jl_field model_fields[] = {
	ID(jl_model_info),
	NAME(jl_model_info),
	TEXTS(jl_model_info, aliases),
	TEXT(jl_model_info, family, JL_FF_REQUIRED),
	INT(jl_model_info, n_layers, JL_FF_REQUIRED),
	NUMBER(jl_model_info, hidden, JL_FF_REQUIRED | JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_model_info, heads, JL_FF_REQUIRED | JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_model_info, kv_heads, 0, 0.0),
	NUMBER(jl_model_info, head_dim, 0, 0.0),
	NUMBER(jl_model_info, ffn, JL_FF_REQUIRED, UNKNOWN),
	NUMBER(jl_model_info, vocab, JL_FF_REQUIRED, UNKNOWN),
	NUMBER(jl_model_info, seq, JL_FF_REQUIRED, UNKNOWN),
	NUMBER(jl_model_info, context, 0, 0.0),
	TEXT(jl_model_info, hub, 0),
	NUMBER(jl_model_info, positions, 0, 0.0),
	NUMBER(jl_model_info, token_types, 0, 0.0),
	NUMBER(jl_model_info, window, 0, 0.0),
	NUMBER(jl_model_info, global_every, 0, 0.0),
	HAS(tied),
	HAS(bias),
	HAS(gated),
	HAS(qkv_bias),
	HAS(rms_norm),
	HAS(qk_norm),
	HAS(pooler),
	HAS(mlm_head),
	HAS(final_norm),
	HAS(parallel_block),
	TEXT(jl_model_info, weights, 0),
	NUMBER(jl_model_info, context_frac, JL_FF_POSITIVE, UNKNOWN),
	SUB(jl_model_info, moe, &moe_schema),
	SUB(jl_model_info, mla, &mla_schema),
	NUMBER(jl_model_info, params, JL_FF_POSITIVE, UNKNOWN),
	REF(jl_model_info, params_source, 0, JL_R_SOURCE, 0),
	TEXT(jl_model_info, note, 0),
	SOURCE(jl_model_info),
	DATED(jl_model_info),
};

static const struct jl_choice net_ops[] = {
	{ "conv", JL_NET_CONV },     { "linear", JL_NET_LINEAR }, { "rnn", JL_NET_RNN },
	{ "cell", JL_NET_CELL },     { "bmm", JL_NET_BMM },       { "attention", JL_NET_ATTENTION },
	{ "stream", JL_NET_STREAM }, { "host", JL_NET_HOST },     { NULL, 0 }
};
static const struct jl_choice net_trains[] = {
	{ "full", JL_NET_FULL }, { "first", JL_NET_FIRST }, { "frozen", JL_NET_FROZEN }, { NULL, 0 }
};
static const struct jl_choice net_pers[] = { { "item", 0 }, { "step", 1 }, { NULL, 0 } };
static const struct jl_choice optimizers[] = {
	{ "sgd", JL_NET_SGD }, { "adam", JL_NET_ADAM }, { "lamb", JL_NET_LAMB }, { NULL, 0 }
};

#define SIZE(M) NUMBER(jl_net_op, M, 0, 0.0)
static const struct jl_field net_op_fields[] = {
	CHOICE(jl_net_op, op, JL_FF_REQUIRED, net_ops),
	CHOICE(jl_net_op, train, 0, net_trains),
	CHOICE(jl_net_op, per, 0, net_pers),
	BOOL(jl_net_op, sync),
	BOOL(jl_net_op, dilated),
	SIZE(count),
	SIZE(c_in),
	SIZE(h),
	SIZE(w),
	SIZE(c_out),
	SIZE(kh),
	SIZE(kw),
	SIZE(stride),
	SIZE(groups),
	SIZE(rows),
	SIZE(k),
	SIZE(n),
	SIZE(steps),
	SIZE(heads),
	SIZE(elems),
	SIZE(passes),
	SIZE(elem_B),
	SIZE(calls),
	TEXT(jl_net_op, what, 0),
};
static const struct jl_schema net_op_schema = PART("ops", jl_net_op, net_op_fields, JL_N("operator"), false);

static const struct jl_field net_fields[] = {
	ID(jl_net_info),
	NAME(jl_net_info),
	TEXTS(jl_net_info, aliases),
	TEXT(jl_net_info, item, JL_FF_REQUIRED),
	TEXT(jl_net_info, unit, JL_FF_REQUIRED),
	NUMBER(jl_net_info, units_per_item, JL_FF_REQUIRED | JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_net_info, n_params, JL_FF_POSITIVE, UNKNOWN),
	TEXT(jl_net_info, words, 0),
	TEXT(jl_net_info, program, 0),
	TEXT(jl_net_info, text, 0),
	TEXTS(jl_net_info, members),
	CHOICE(jl_net_info, optimizer, JL_FF_REQUIRED, optimizers),
	BOOL(jl_net_info, half_grads),
	BOOL(jl_net_info, ignores_amp),
	NUMBER(jl_net_info, batch_per_B_half, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_net_info, batch_per_B_full, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_net_info, kept_per_output, 0, 0.0),
	TEXT(jl_net_info, source, JL_FF_REQUIRED),
	LIST(jl_net_info, ops, &net_op_schema),
};

static const struct jl_choice kv_rules[] = {
	{ "as-needed", JL_KV_AS_NEEDED }, { "reserved", JL_KV_RESERVED }, { "estimated", JL_KV_ESTIMATED }, { NULL, 0 }
};
static const struct jl_field policy_fields[] = {
	BOOL(jl_policy, prompts_first),     INT(jl_policy, token_budget, 0),
	INT(jl_policy, max_seqs, 0),        INT(jl_policy, block_tokens, 0),
	INT(jl_policy, graph_max, 0),       INT(jl_policy, graph_step, 0),
	NUMBER(jl_policy, mem_frac, 0, 0),  CHOICE(jl_policy, kv_rule, 0, kv_rules),
	NUMBER(jl_policy, kept_frac, 0, 0), BOOL(jl_policy, shared_limits),
};
static const struct jl_schema policy_schema = PART("policy", jl_policy, policy_fields, JL_N("policy block"), true);
#define JL_X(option) TEXT(jl_engine_start, option, 0),
static const struct jl_field start_fields[] = { TEXT(jl_engine_start, command, 0),
						JL_ENGINE_OPTIONS(JL_X) TEXT(jl_engine_start, answers, 0),
						TEXT(jl_engine_start, prompts, 0) };
#undef JL_X
static const struct jl_schema start_schema = PART("start", jl_engine_start, start_fields, JL_N("start block"), true);

#define IS(M) BOOL(jl_engine_info, M)
static const struct jl_field engine_fields[] = {
	ID(jl_engine_info),
	NAME(jl_engine_info),
	REF(jl_engine_info, of, 0, JL_R_ENGINE, 0),
	TEXT(jl_engine_info, until, 0),
	TEXT(jl_engine_info, vendor, 0),
	TEXTS(jl_engine_info, words),
	TEXTS(jl_engine_info, runs_on),
	TEXTS(jl_engine_info, fits),
	IS(undated),
	IS(single),
	IS(operators),
	IS(by_layer),
	IS(consumer),
	IS(own_products),
	IS(short_sums),
	IS(native),
	IS(score_maps),
	IS(static_scales),
	IS(gguf),
	IS(eager),
	IS(host_waits),
	IS(per_head),
	SUB(jl_engine_info, policy, &policy_schema),
	SUB(jl_engine_info, start, &start_schema),
	SOURCE(jl_engine_info),
	DATED(jl_engine_info),
	TEXT(jl_engine_info, note, 0),
};

static const struct jl_field param_fields[] = {
	ID(jl_param_info),
	NUMBER(jl_param_info, value, JL_FF_REQUIRED, UNKNOWN),
	NUMBER(jl_param_info, lo, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_param_info, hi, JL_FF_POSITIVE, UNKNOWN),
	NUMBER(jl_param_info, prior, JL_FF_POSITIVE, UNKNOWN),
	INT(jl_param_info, n_rows, 0),
	TEXT(jl_param_info, unit, 0),
	TEXT(jl_param_info, note, 0),
};

static const struct jl_field price_fields[] = {
	TEXT(jl_price, kind, JL_FF_REQUIRED),
	TEXT(jl_price, provider, JL_FF_REQUIRED),
	TEXT(jl_price, item, JL_FF_REQUIRED),
	TEXT_AS(jl_price, gpu_text, "gpu", 0),
	COLUMN(jl_price, n_gpu, "gpu_count", 1),
	COLUMN(jl_price, n_vcpu, "vcpu", 1),
	COLUMN(jl_price, ram_B, "ram_gb", 1073741824.0),
	TEXT(jl_price, region, 0),
	COLUMN(jl_price, on_demand_usdps, "on_demand_usd_h", 1.0 / 3600),
	COLUMN(jl_price, spot_min_usdps, "spot_usd_h_min", 1.0 / 3600),
	COLUMN(jl_price, spot_median_usdps, "spot_usd_h_median", 1.0 / 3600),
	COLUMN(jl_price, price_usd, "price_usd", 1),
	TEXT_AS(jl_price, basis, "price_basis", 0),
	DATE(jl_price, date, "as_of", JL_FF_REQUIRED),
	TEXT_AS(jl_price, url, "source_url", JL_FF_REQUIRED),
	TEXT_AS(jl_price, note, "notes", 0),
	/* not a column: found from gpu_text and the item */
	{ .key = NULL,
	  .member = "gpu",
	  .type = JL_F_TEXT,
	  .offset = offsetof(struct jl_price, gpu),
	  .ref = 1 + JL_R_GPU },
};

#define KIND(LISTED, TYPE, FIELDS, EN)                                                                                 \
	.list = #LISTED, .en = EN, .c_type = "struct " #TYPE, .size_B = sizeof(struct TYPE), .fields = (FIELDS),       \
	.n_fields = JL_LEN(FIELDS), .omit_unknown = true, .list_offset = offsetof(struct jl_catalog, LISTED),          \
	.count_offset = offsetof(struct jl_catalog, n_##LISTED)

static const struct jl_schema schemas[JL_N_RECORD] = {
	[JL_R_SOURCE] = { KIND(sources, jl_source, source_fields, JL_N("source")) },
	[JL_R_FAMILY] = { KIND(families, jl_family, family_fields, JL_N("family")) },
	[JL_R_GPU] = { KIND(gpus, jl_gpu, gpu_fields, JL_N("gpu")) },
	[JL_R_CPU] = { KIND(cpus, jl_cpu, cpu_fields, JL_N("cpu")) },
	[JL_R_LINK] = { KIND(links, jl_link_info, link_fields, JL_N("link")) },
	[JL_R_SYSTEM] = { KIND(systems, jl_system, system_fields, JL_N("system")) },
	[JL_R_TARIFF] = { KIND(tariffs, jl_tariff, tariff_fields, JL_N("tariff")), .grouped = true },
	[JL_R_RULE] = { KIND(rules, jl_rule, rule_fields, JL_N("rule")) },
	[JL_R_RELIABILITY] = { KIND(reliability, jl_reliability, reliability_fields, JL_N("reliability record")) },
	[JL_R_MODEL] = { KIND(models, jl_model_info, model_fields, JL_N("model")) },
	[JL_R_NET] = { KIND(convnets, jl_net_info, net_fields, JL_N("network")) },
	[JL_R_ENGINE] = { KIND(engines, jl_engine_info, engine_fields, JL_N("engine")) },
	[JL_R_PARAM] = { KIND(params, jl_param_info, param_fields, JL_N("parameter")) },
	[JL_R_PRICE] = { KIND(prices, jl_price, price_fields, JL_N("price")), .grouped = true },
};

_Static_assert(JL_LEN(gpu_fields) <= JL_SCHEMA_FIELDS_MAX, "raise JL_SCHEMA_FIELDS_MAX");

const struct jl_schema *jl_schema_of(enum jl_catalog_kind kind)
{
	return &schemas[kind];
}

bool jl_schema_by_list(enum jl_catalog_kind *ret_kind, const char *list)
{
	for (int kind = 0; kind < JL_N_RECORD; kind++) {
		if (kind != JL_R_PRICE && strcmp(schemas[kind].list, list) == 0) {
			*ret_kind = (enum jl_catalog_kind)kind;
			return true;
		}
	}
	return false;
}

size_t jl_schema_field(const struct jl_schema *schema, const char *key)
{
	size_t i = 0;

	while (i < schema->n_fields && !(schema->fields[i].key && strcmp(schema->fields[i].key, key) == 0))
		i++;
	return i;
}

void jl_schema_clear(const struct jl_schema *schema, void *record)
{
	memset(record, 0, schema->size_B);
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];
		void *at = (char *)record + field->offset;

		if (field->type == JL_F_FACT)
			*(struct jl_fact *)at = JL_FACT_UNKNOWN;
		else if (field->type == JL_F_NUMBER)
			*(double *)at = field->if_absent;
		else if (field->type == JL_F_SUB)
			jl_schema_clear(field->sub, at);
	}
}

const void *jl_catalog_list(const struct jl_catalog *cat, enum jl_catalog_kind kind, size_t *ret_n)
{
	const struct jl_schema *schema = &schemas[kind];
	const void *list;

	memcpy(&list, (const char *)cat + schema->list_offset, sizeof(list));
	memcpy(ret_n, (const char *)cat + schema->count_offset, sizeof(*ret_n));
	return list;
}

void jl_catalog_set_list(struct jl_catalog *cat, enum jl_catalog_kind kind, const void *list, size_t n)
{
	memcpy((char *)cat + schemas[kind].list_offset, &list, sizeof(list));
	memcpy((char *)cat + schemas[kind].count_offset, &n, sizeof(n));
}

const char *jl_record_id(const struct jl_schema *schema, const void *record)
{
	const char *id = NULL;

	for (size_t i = 0; i < schema->n_fields && !id; i++) {
		const struct jl_field *field = &schema->fields[i];

		if (field->flags & JL_FF_ID || (field->key && strcmp(field->key, "item") == 0))
			id = *(const char *const *)jl_field_at(field, record);
	}
	return id ? id : "?";
}
