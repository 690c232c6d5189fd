/* Tables of the form of every kind of catalog record. */
#include "catalog/schema.h"

#include <string.h>

#define UNKNOWN __builtin_nan("")

#define WIRE    (1U << JL_ROLE_WIRE)
#define JOIN    (1U << JL_ROLE_JOIN)
#define NETWORK (1U << JL_ROLE_NETWORK)

static const struct jl_choice origins[] = { { "measured", JL_MEASURED },
					    { "published", JL_PUBLISHED },
					    { "listed", JL_LISTED },
					    { "estimated", JL_ESTIMATED },
					    { NULL, 0 } };
/* The first name of a value is shown in messages; the others are accepted in YAML. */
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

static const struct jl_choice kv_rules[] = {
	{ "as-needed", JL_KV_AS_NEEDED }, { "reserved", JL_KV_RESERVED }, { "estimated", JL_KV_ESTIMATED }, { NULL, 0 }
};

/* clang-format off */
/* Rows of struct S, see records.def. */
#define JOIN_(A, B)  A##B
#define JOINED(A, B) JOIN_(A, B)
#define RECORD       static const struct jl_field JOINED(S, _fields)[] = {
#define END          };
#define MEMBER(...)
#define ROW(M, KEY, TYPE, ...)                                                                                         \
	{ .key = KEY, .member = #M, .type = JL_F_##TYPE, .offset = offsetof(struct S, M), __VA_ARGS__ },
#define FOUND(M, KIND)                  ROW(M, NULL, TEXT, .ref = 1 + (KIND))
#define TEXT(M, FLAGS)                  ROW(M, #M, TEXT, .flags = (FLAGS))
#define TEXT_AS(M, KEY, FLAGS)          ROW(M, KEY, TEXT, .flags = (FLAGS))
#define DATE(M, KEY, FLAGS)             ROW(M, KEY, DATE, .flags = (FLAGS))
#define REF(M, FLAGS, KIND, ROLES)      ROW(M, #M, TEXT, .flags = (FLAGS), .ref = 1 + (KIND), .ref_roles = (ROLES))
#define FACT(M, KEY, KIND)              ROW(M, KEY, FACT, .kind = (KIND))
#define NUMBER(M, FLAGS, ABSENT)        ROW(M, #M, NUMBER, .flags = (FLAGS), .if_absent = (ABSENT), .scale = 1)
#define COLUMN(M, KEY, SCALE)           ROW(M, KEY, NUMBER, .if_absent = UNKNOWN, .scale = (SCALE))
#define INT(M, FLAGS)                   ROW(M, #M, INT, .flags = (FLAGS))
#define BOOL(M)                         ROW(M, #M, BOOL, .flags = 0)
#define CHOICE(TYPE, M, FLAGS, CHOICES) ROW(M, #M, CHOICE, .flags = (FLAGS), .choices = (CHOICES))
#define TEXTS(M)                        ROW(M, #M, TEXTS, .flags = 0)
#define LIST(TYPE, M, FORM)             ROW(M, #M, LIST, .count_offset = offsetof(struct S, n_##M), .sub = (FORM))
#define SUB(TYPE, M, FORM)              ROW(M, #M, SUB, .sub = (FORM))
#define FACT_OF(M, KEY, KIND, EN)       FACT(M, KEY, KIND)
#define OPTION_OF(M)                    TEXT(M, 0)

static const struct jl_schema conflict_schema, priors_schema, measured_schema, moe_schema, mla_schema, net_op_schema,
	policy_schema, start_schema; /* defined below */

#define S         jl_priors
#define NEEDED(M) NUMBER(M, JL_FF_REQUIRED | JL_FF_POSITIVE, 0.0)
RECORD
	NEEDED(n_sm)
	NEEDED(vector_frac)
	NEEDED(tensor16_frac)
	NEEDED(tensor8_frac)
	NEEDED(mem_frac)
	NEEDED(sm_frac)
	NEEDED(tail_frac)
	NEEDED(read_frac)
	NEEDED(train_tensor16_frac)
	NEEDED(vector_pJ)
	NEEDED(tensor16_pJ)
	NEEDED(tensor8_pJ)
	NEEDED(flop_gain)
	NEEDED(byte_gain)
	NEEDED(align_frac)
	NUMBER(turned_frac, 0, 0.0)
	NEEDED(dequant_frac)
	NEEDED(flash_frac)
	NUMBER(wide_B, 0, 0.0)
	NUMBER(net_Gbps, 0, 0.0)
	BOOL(no_tensor)
	BOOL(no_tf32)
	BOOL(mixed16)
	BOOL(bf16)
	BOOL(flash)
	BOOL(fp8)
	BOOL(warpgroup)
	BOOL(slow_fp8)
	BOOL(slots_via_host)
	BOOL(conv_rows)
	BOOL(serve_rows)
END
#undef S

#define DAY_S 86400.0
#include "catalog/records.def"
_Static_assert(JL_LEN(jl_gpu_fields) <= JL_SCHEMA_FIELDS_MAX, "raise JL_SCHEMA_FIELDS_MAX");
/* clang-format on */

/* Schema of a record nested in others. */
#define PART(LISTED, TYPE, EN, OMIT)                                                                                   \
	{                                                                                                              \
		.list = (LISTED), .en = EN, .c_type = "struct " #TYPE, .size_B = sizeof(struct TYPE),                  \
		.fields = TYPE##_fields, .n_fields = JL_LEN(TYPE##_fields), .omit_unknown = (OMIT)                     \
	}

static const struct jl_schema conflict_schema = PART("conflicts", jl_conflict, JL_N("conflict"), true);
static const struct jl_schema priors_schema = PART("priors", jl_priors, JL_N("priors block"), false);
static const struct jl_schema measured_schema = PART("measured", jl_link_measured, JL_N("measurement"), true);
static const struct jl_schema moe_schema = PART("moe", jl_model_moe, JL_N("moe block"), true);
static const struct jl_schema mla_schema = PART("mla", jl_model_mla, JL_N("mla block"), true);
static const struct jl_schema net_op_schema = PART("ops", jl_net_op, JL_N("operator"), false);
static const struct jl_schema policy_schema = PART("policy", jl_policy, JL_N("policy block"), true);
static const struct jl_schema start_schema = PART("start", jl_engine_start, JL_N("start block"), true);

#define KIND(LISTED, TYPE, EN)                                                                                         \
	.list = #LISTED, .en = EN, .c_type = "struct " #TYPE, .size_B = sizeof(struct TYPE), .fields = TYPE##_fields,  \
	.n_fields = JL_LEN(TYPE##_fields), .omit_unknown = true, .list_offset = offsetof(struct jl_catalog, LISTED),   \
	.count_offset = offsetof(struct jl_catalog, n_##LISTED)

static const struct jl_schema schemas[JL_N_RECORD] = {
	[JL_R_SOURCE] = { KIND(sources, jl_source, JL_N("source")) },
	[JL_R_FAMILY] = { KIND(families, jl_family, JL_N("family")) },
	[JL_R_GPU] = { KIND(gpus, jl_gpu, JL_N("gpu")) },
	[JL_R_CPU] = { KIND(cpus, jl_cpu, JL_N("cpu")) },
	[JL_R_LINK] = { KIND(links, jl_link_info, JL_N("link")) },
	[JL_R_SYSTEM] = { KIND(systems, jl_system, JL_N("system")) },
	[JL_R_TARIFF] = { KIND(tariffs, jl_tariff, JL_N("tariff")), .grouped = true },
	[JL_R_RULE] = { KIND(rules, jl_rule, JL_N("rule")) },
	[JL_R_RELIABILITY] = { KIND(reliability, jl_reliability, JL_N("reliability record")) },
	[JL_R_MODEL] = { KIND(models, jl_model_info, JL_N("model")) },
	[JL_R_NET] = { KIND(convnets, jl_net_info, JL_N("network")) },
	[JL_R_ENGINE] = { KIND(engines, jl_engine_info, JL_N("engine")) },
	[JL_R_PARAM] = { KIND(params, jl_param_info, JL_N("parameter")) },
	[JL_R_PRICE] = { KIND(prices, jl_price, JL_N("price")), .grouped = true },
};

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
