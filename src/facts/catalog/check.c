/* Validates catalog records: references, ranges, units, contradictions. */
#include "catalog/check.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <stdarg.h>

void jl_findings_init(struct jl_findings *findings, struct jl_arena *arena)
{
	*findings = (struct jl_findings){ .arena = arena };
}

void jl_findings_add(struct jl_findings *findings, const struct jl_err *err)
{
	struct jl_finding *finding;

	findings->n++;
	if (jl_findings_full(findings))
		return;
	finding = jl_arena_alloc(findings->arena, sizeof(*finding));
	if (!finding) {
		findings->out_of_memory = true;
		return;
	}
	finding->err = *err;
	if (findings->last)
		findings->last->next = finding;
	else
		findings->first = finding;
	findings->last = finding;
	findings->n_listed++;
}

bool jl_findings_full(const struct jl_findings *findings)
{
	return findings->n_listed >= JL_FINDINGS_MAX;
}

enum jl_status jl_findings_status(const struct jl_findings *findings, struct jl_err *err)
{
	const struct jl_err *first;

	if (findings->out_of_memory)
		return jl_fail_nomem(err);
	if (!findings->first)
		return JL_OK;
	first = &findings->first->err;
	if (findings->n == 1) {
		if (err)
			*err = *first;
		return first->status;
	}
	return jl_fail_from(err, first->status, NULL, first, "{} (and %zu more: jeoul catalog validate)",
			    findings->n - 1);
}

/* `file` is NULL if positions are unknown. */
static struct jl_where where_of(const struct jl_check *check)
{
	const struct jl_catalog_places *places = check->places;
	const struct jl_record_place *newest = places && places->of[check->kind] ? places->of[check->kind][check->i]
										 : NULL;
	const struct jl_schema *schema = jl_schema_of(check->kind);

	for (const struct jl_record_place *at = newest; at; at = at->older)
		if (at->cells ||
		    (check->field < schema->n_fields && jl_yaml_get(at->map, schema->fields[check->field].key)))
			return jl_record_where(at, check->field, check->item, check->sub);
	return newest ? jl_record_where(newest, check->field, check->item, check->sub)
		      : (struct jl_where){ .file = NULL };
}

/* Reports "gpu h100-sxm5: mem_rate: ..." */
void jl_check_report_err(struct jl_check *check, const struct jl_err *err)
{
	const struct jl_schema *schema = jl_schema_of(check->kind);
	const char *key = "", *sub_key = "";
	struct jl_err said;

	if (jl_findings_full(check->findings)) {
		check->findings->n++;
		return;
	}
	if (check->field < schema->n_fields) {
		const struct jl_field *field = &schema->fields[check->field];

		key = field->key ? field->key : field->member;
		if (field->sub && check->sub < field->sub->n_fields)
			sub_key = field->sub->fields[check->sub].key;
	}
	struct jl_where where = where_of(check);
	jl_fail_from(&said, err->status, &where, err, "{%s} %.80s%s%s%s%s: {}", schema->en,
		     jl_record_id(schema, check->record), *key ? ": " : "", key, *sub_key ? "." : "", sub_key);
	jl_findings_add(check->findings, &said);
}

void jl_check_report(struct jl_check *check, enum jl_status status, const char *en, ...)
{
	struct jl_err inner = { .status = status };
	va_list args;

	va_start(args, en);
	jl_msg_vprint(inner.en, inner.text, sizeof(inner.en), en, args);
	va_end(args);
	jl_check_report_err(check, &inner);
}

/* Plausible range of a listed value; outside it, a unit or a digit is wrong. */
struct range {
	double lo, hi;
};

static const struct range kind_range[JL_N_KIND] = {
	[JL_K_NUMBER] = { 0, 1e9 },       [JL_K_FRACTION] = { 0, 1.5 },     [JL_K_BYTES] = { 1e3, 1e17 },
	[JL_K_BYTE_RATE] = { 1e6, 1e16 }, [JL_K_FREQUENCY] = { 1e7, 1e10 }, [JL_K_FLOP_RATE] = { 1e8, 1e20 },
	[JL_K_OP_RATE] = { 1e8, 1e20 },   [JL_K_POWER] = { 0.5, 1e8 },      [JL_K_LENGTH] = { 0.01, 5 },
	[JL_K_USD] = { 1, 1e9 },
};

static const struct {
	const char *key;
	struct range range;
} gpu_range[] = {
	{ "mem", { 64e6, 8e12 } }, { "mem_rate", { 1e9, 1e14 } }, { "l2", { 1e4, 1e10 } },    { "sms", { 1, 1e4 } },
	{ "cores", { 1, 1e6 } },   { "boost", { 1e8, 6e9 } },     { "tdp", { 1, 2e4 } },      { "slots", { 0.5, 12 } },
	{ "length", { 0.05, 2 } }, { "msrp", { 10, 1e7 } },       { "year", { 1990, 2100 } },
};

/* Tolerance between a catalog value and its cross-check: data sheets round. */
#define ROUNDING 0.02

static bool id_has_form(const char *id)
{
	size_t n_colons = 0;

	if (!islower((unsigned char)id[0]) && !isdigit((unsigned char)id[0]))
		return false;
	for (const char *c = id; *c; c++) {
		if (*c == ':')
			n_colons++;
		else if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && !strchr("-._", *c))
			return false;
	}
	return n_colons <= 1 && id[strlen(id) - 1] != ':';
}

static void check_ref(struct jl_check *check, const struct jl_field *field, const char *id)
{
	enum jl_catalog_kind target = (enum jl_catalog_kind)(field->ref - 1);
	const struct jl_schema *schema = jl_schema_of(target);
	size_t n;

	const char *record = jl_catalog_list(check->cat, target, &n);
	for (size_t i = 0; i < n; i++, record += schema->size_B) {
		enum jl_link_role role;

		if (strcmp(jl_record_id(schema, record), id) != 0)
			continue;
		role = target == JL_R_LINK ? ((const struct jl_link_info *)(const void *)record)->role : JL_ROLE_WIRE;
		if (field->ref_roles && !(field->ref_roles & 1U << role)) {
			static const char *const names[] = { "wire", "join", "network", "switch" };

			jl_check_report(check, JL_E_DATA,
					"'%.80s' is a link with role %s; a link of another role is needed here", id,
					names[role]);
		}
		return;
	}
	jl_check_report(check, JL_E_NOTFOUND, "there is no %s '%.80s'; add it to '%s:' or use an id that is there",
			schema->en, id, schema->list);
}

static void check_text(struct jl_check *check, const struct jl_field *field, const char *text)
{
	struct jl_err err;
	long day;

	if (field->flags & JL_FF_ID && !id_has_form(text))
		jl_check_report(check, JL_E_PARSE,
				"'%.80s' is not an id: lower-case letters, digits, '-', '.', '_', and at most one ':' "
				"after a provider",
				text);
	if (field->type == JL_F_DATE && jl_date_parse(&day, text, &err))
		jl_check_report_err(check, &err);
	if (field->ref)
		check_ref(check, field, text);
}

static struct range range_of(const struct jl_check *check, const struct jl_field *field)
{
	for (size_t i = 0; check->kind == JL_R_GPU && i < JL_LEN(gpu_range); i++) {
		if (strcmp(gpu_range[i].key, field->key) == 0)
			return gpu_range[i].range;
	}
	return field->type == JL_F_FACT ? kind_range[field->kind] : (struct range){ 0, 1e15 };
}

static void check_value(struct jl_check *check, const struct jl_field *field, double value)
{
	struct range range = range_of(check, field);
	enum jl_kind kind = field->type == JL_F_FACT ? field->kind : JL_K_NUMBER;
	char shown[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX];

	if (value >= range.lo && value <= range.hi && !(field->flags & JL_FF_POSITIVE && !(value > 0)))
		return;
	jl_check_report(check, JL_E_RANGE, "%s cannot be: it should be from %s to %s; is the unit right?",
			jl_units_text(shown, value, kind, 4), jl_units_text(lo, range.lo, kind, 3),
			jl_units_text(hi, range.hi, kind, 3));
}

static bool is_given(const struct jl_field *field, const void *record)
{
	const void *at = jl_field_at(field, record);

	switch (field->type) {
	case JL_F_TEXT:
	case JL_F_DATE: return *(const char *const *)at != NULL && **(const char *const *)at != '\0';
	case JL_F_NUMBER: return !isnan(*(const double *)at);
	case JL_F_INT: return *(const int *)at != 0;
	case JL_F_FACT: return jl_fact_known(at);
	default: return true;
	}
}

static void check_fields(struct jl_check *check, const struct jl_schema *schema, const void *record, bool is_sub);

static void check_sub_records(struct jl_check *check, const struct jl_field *field, const void *record)
{
	const char *list = *(const char *const *)jl_field_at(field, record);
	size_t n = *(const size_t *)(const void *)((const char *)record + field->count_offset);

	for (check->item = 0; check->item < n; check->item++)
		check_fields(check, field->sub, list + check->item * field->sub->size_B, true);
	check->item = check->sub = JL_NO_FIELD;
}

/* A sub-record is absent if all its bytes are zero. */
static bool is_zero(const void *at, size_t size_B)
{
	const unsigned char *bytes = at;

	while (size_B && !*bytes) {
		bytes++;
		size_B--;
	}
	return size_B == 0;
}

static void check_field(struct jl_check *check, const struct jl_field *field, const void *record)
{
	const void *at = jl_field_at(field, record);

	switch (field->type) {
	case JL_F_TEXT:
	case JL_F_DATE: check_text(check, field, *(const char *const *)at); break;
	case JL_F_FACT: check_value(check, field, ((const struct jl_fact *)at)->value); break;
	case JL_F_NUMBER: check_value(check, field, *(const double *)at); break;
	case JL_F_INT: check_value(check, field, *(const int *)at); break;
	case JL_F_LIST: check_sub_records(check, field, record); break;
	case JL_F_SUB:
		check->item = 0;
		if (!is_zero(at, field->sub->size_B))
			check_fields(check, field->sub, at, true);
		check->item = check->sub = JL_NO_FIELD;
		break;
	default: break;
	}
}

static void check_fields(struct jl_check *check, const struct jl_schema *schema, const void *record, bool is_sub)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];

		if (is_sub)
			check->sub = i;
		else
			check->field = i;
		if (is_given(field, record)) {
			check_field(check, field, record);
		} else if (field->flags & JL_FF_REQUIRED) {
			jl_check_report(check, JL_E_DATA, "missing: every %s needs '%s: ...'", schema->en, field->key);
		}
	}
	if (is_sub)
		check->sub = JL_NO_FIELD;
	else
		check->field = JL_NO_FIELD;
}

static struct jl_check *at(struct jl_check *check, const char *key)
{
	check->field = jl_schema_field(jl_schema_of(check->kind), key);
	return check;
}

/* Links and accelerators list one-way and two-way rates; one way must be half of the sum. */
static void check_ways(struct jl_check *check, const char *key, const struct jl_fact *oneway,
		       const struct jl_fact *bothway)
{
	char one[JL_UNITS_TEXT_MAX], both[JL_UNITS_TEXT_MAX], want[JL_UNITS_TEXT_MAX];

	if (!jl_fact_known(oneway) || !jl_fact_known(bothway) ||
	    fabs(oneway->value * 2 / bothway->value - 1) <= ROUNDING)
		return;
	jl_check_report(at(check, key), JL_E_DATA, "%s one way does not agree with %s both ways; one way would be %s",
			jl_units_text(one, oneway->value, JL_K_BYTE_RATE, 4),
			jl_units_text(both, bothway->value, JL_K_BYTE_RATE, 4),
			jl_units_text(want, bothway->value / 2, JL_K_BYTE_RATE, 4));
}

/* The rejected value of a conflict must be a quantity of the same kind: number and unit before any '@' or '('. */
static void check_conflicts(struct jl_check *check, const struct jl_conflict *conflicts, size_t n)
{
	const struct jl_schema *schema = jl_schema_of(check->kind);

	(void)at(check, "conflicts");
	for (check->item = 0; check->item < n; check->item++) {
		const struct jl_conflict *conflict = &conflicts[check->item];
		size_t field = conflict->field ? jl_schema_field(schema, conflict->field) : schema->n_fields;
		struct jl_err err;
		double value;
		char text[128];

		check->sub = 0;
		if (conflict->field && field == schema->n_fields)
			jl_check_report(check, JL_E_NOTFOUND, "'%.60s' is not a key of a %s", conflict->field,
					schema->en);
		if (field == schema->n_fields || schema->fields[field].type != JL_F_FACT || !conflict->other)
			continue;
		check->sub = 1;
		size_t len = strcspn(conflict->other, "@(");
		if (len >= sizeof(text))
			len = sizeof(text) - 1;
		memcpy(text, conflict->other, len);
		text[len] = '\0';
		if (jl_units_parse(&value, text, schema->fields[field].kind, schema->fields[field].key, &err))
			jl_check_report_err(check, &err);
	}
	check->item = check->sub = JL_NO_FIELD;
}

static void check_gpu(struct jl_check *check)
{
	const struct jl_gpu *gpu = check->record;

	check_ways(check, "link_oneway", &gpu->link_oneway_Bps, &gpu->link_bothway_Bps);
	check_conflicts(check, gpu->conflicts, gpu->n_conflicts);
	jl_check_gpu_rates(check);
}

static void check_link(struct jl_check *check)
{
	const struct jl_link_info *link = check->record;

	check_ways(check, "oneway", &link->oneway_Bps, &link->bothway_Bps);
	if (link->role == JL_ROLE_JOIN && !link->topology)
		jl_check_report(
			at(check, "topology"), JL_E_DATA,
			"missing: a join says how devices are joined: none, host, p2p, bridge-pair, mesh, switch "
			"or domain");
}

static void check_system(struct jl_check *check)
{
	const struct jl_system *system = check->record;

	check_conflicts(check, system->conflicts, system->n_conflicts);
	if (system->gpu && system->n_gpu < 1)
		jl_check_report(at(check, "n_gpu"), JL_E_DATA, "missing: a system with 'gpu' says how many it has");
}

static void check_cpu(struct jl_check *check)
{
	const struct jl_cpu *cpu = check->record;
	double clock_Hz = jl_fact_known(&cpu->boost_Hz) ? cpu->boost_Hz.value : cpu->base_Hz.value;
	double peak_flopps = cpu->n_core.value * clock_Hz * cpu->fp32_per_clock.value;
	char shown[JL_UNITS_TEXT_MAX], want[JL_UNITS_TEXT_MAX];

	if (!jl_fact_known(&cpu->fp32_flopps) || isnan(peak_flopps))
		return;
	if (cpu->fp32_flopps.value <= peak_flopps * 1.35 && cpu->fp32_flopps.value >= peak_flopps * 0.3)
		return;
	jl_check_report(at(check, "fp32"), JL_E_DATA, "%s does not agree with cores x clock x FLOP per clock = %s",
			jl_units_text(shown, cpu->fp32_flopps.value, JL_K_FLOP_RATE, 4),
			jl_units_text(want, peak_flopps, JL_K_FLOP_RATE, 4));
}

static void check_tariff(struct jl_check *check)
{
	const struct jl_tariff *tariff = check->record;
	size_t n_number = tariff->value ? strspn(tariff->value, "+-0123456789.,") : 1;

	if (tariff->value && (n_number == 0 || tariff->value[n_number + strspn(tariff->value + n_number, " ")] == '\0'))
		jl_check_report(
			at(check, "value"), JL_E_UNIT,
			"'%.60s' is not a number with a unit; write e.g. 120.0 KRW/kWh, 1600 KRW/month or 10 %%",
			tariff->value);
	if (tariff->to_kWh <= tariff->from_kWh)
		jl_check_report(at(check, "to_kWh"), JL_E_RANGE, "a tier ends above where it begins (%g)",
				tariff->from_kWh);
}

static void check_rule(struct jl_check *check)
{
	const struct jl_rule *rule = check->record;

	if (!rule->kind || !rule->value || strcmp(rule->kind, "rents-out") != 0)
		return;
	for (size_t i = 0; i < check->cat->n_gpus; i++)
		if (check->cat->gpus[i].id && strcmp(check->cat->gpus[i].id, rule->value) == 0)
			return;
	jl_check_report(at(check, "value"), JL_E_NOTFOUND,
			"there is no gpu '%.80s' to rent out; use an id that is there", rule->value);
}

static void check_model(struct jl_check *check)
{
	const struct jl_model_info *model = check->record;
	double groups = model->heads / model->kv_heads;

	if (model->kv_heads > model->heads || fabs(groups - round(groups)) > 1e-9)
		jl_check_report(at(check, "kv_heads"), JL_E_DATA, "%g heads cannot share %g key/value heads evenly",
				model->heads, model->kv_heads);
	if (model->moe.n_experts && model->moe.top_k > model->moe.n_experts)
		jl_check_report(at(check, "moe"), JL_E_DATA, "top_k %d is more than %d experts", model->moe.top_k,
				model->moe.n_experts);
}

/* True if an operator has the sizes of its kind. */
static bool is_sized(const struct jl_net_op *op)
{
	switch (op->op) {
	case JL_NET_CONV: return op->c_in > 0 && op->c_out > 0 && op->h > 0 && op->w > 0;
	case JL_NET_STREAM: return op->elems > 0 && op->passes > 0;
	case JL_NET_HOST: return op->calls > 0;
	default: return op->rows > 0 && op->k > 0 && op->n > 0;
	}
}

static void check_net(struct jl_check *check)
{
	const struct jl_net_info *net = check->record;

	if (net->kept_per_output > 1e3)
		jl_check_report(at(check, "kept_per_output"), JL_E_RANGE,
				"%g cannot be; it is 2 with norms or gates, 1 without", net->kept_per_output);
	(void)at(check, "ops");
	if ((net->n_ops > 0) + (net->program != NULL) + (net->text != NULL) != 1 || !net->program != !net->words)
		jl_check_report(check, JL_E_DATA,
				"a network has operators, or words and a program, or the name of such a text");
	if (net->n_ops && (isnan(net->n_params) || isnan(net->batch_per_B_half) || isnan(net->batch_per_B_full)))
		jl_check_report(check, JL_E_DATA,
				"a list of operators needs n_params, batch_per_B_half and batch_per_B_full");
	for (check->item = 0; check->item < net->n_ops; check->item++)
		if (!is_sized(&net->ops[check->item]))
			jl_check_report(check, JL_E_RANGE,
					"lacks a size; write e.g. {op: conv, c_in: 64, h: 56, w: 56, c_out: 256}, {op: "
					"linear, rows: 1, k: 2048, n: 1000}");
	check->item = JL_NO_FIELD;
}

static void check_reliability(struct jl_check *check)
{
	const struct jl_reliability *row = check->record;
	const bool counted = row->n_failures >= 0 && row->window_s > 0;

	if (!counted && !(row->failures_per_node_day > 0) && !(row->mttf_s > 0) && isnan(row->effective_frac))
		jl_check_report(
			at(check, "failures"), JL_E_DATA,
			"lacks figures; write failures and days, failures_per_node_day, mttf_hours or effective");
	if (row->pooled && !counted && !(row->failures_per_node_day > 0) && !(row->mttf_s > 0))
		jl_check_report(at(check, "pooled"), JL_E_DATA, "a pooled site needs failures and days, or a rate");
	if (row->effective_frac < 0 || row->effective_frac > 1)
		jl_check_report(at(check, "effective"), JL_E_RANGE, "%g is not a share; write e.g. 0.97",
				row->effective_frac);
}

static void check_price(struct jl_check *check)
{
	const struct jl_price *price = check->record;

	if (isnan(price->on_demand_usdps) && isnan(price->spot_min_usdps) && isnan(price->spot_median_usdps) &&
	    isnan(price->price_usd) && !price->basis) /* the price basis may give it in another currency */
		jl_check_report(
			at(check, "on_demand_usd_h"), JL_E_DATA,
			"a row without a price; fill on_demand_usd_h, spot_usd_h_min, spot_usd_h_median or price_usd");
	if (price->on_demand_usdps > 1e5 / 3600)
		jl_check_report(at(check, "on_demand_usd_h"), JL_E_RANGE, "%g USD/h cannot be a rent",
				price->on_demand_usdps * 3600);
}

static void check_param(struct jl_check *check)
{
	const struct jl_param_info *param = check->record;

	if (param->value < param->lo || param->value > param->hi)
		jl_check_report(at(check, "value"), JL_E_RANGE, "%g is outside of its bounds, %g to %g", param->value,
				param->lo, param->hi);
}

static void (*const kind_checks[JL_N_RECORD])(struct jl_check *) = {
	[JL_R_GPU] = check_gpu,
	[JL_R_CPU] = check_cpu,
	[JL_R_LINK] = check_link,
	[JL_R_SYSTEM] = check_system,
	[JL_R_TARIFF] = check_tariff,
	[JL_R_MODEL] = check_model,
	[JL_R_RULE] = check_rule,
	[JL_R_NET] = check_net,
	[JL_R_PRICE] = check_price,
	[JL_R_PARAM] = check_param,
	[JL_R_RELIABILITY] = check_reliability,
};

void jl_catalog_check(const struct jl_catalog *cat, const struct jl_catalog_places *places,
		      struct jl_findings *findings)
{
	for (int kind = 0; kind < JL_N_RECORD; kind++) {
		const struct jl_schema *schema = jl_schema_of((enum jl_catalog_kind)kind);
		struct jl_check check = {
			.cat = cat, .places = places, .findings = findings, .kind = (enum jl_catalog_kind)kind
		};
		size_t n;
		const char *list = jl_catalog_list(cat, check.kind, &n);

		for (check.i = 0; check.i < n; check.i++) {
			check.record = list + check.i * schema->size_B;
			check.field = check.item = check.sub = JL_NO_FIELD;
			check_fields(&check, schema, check.record, false);
			if (kind_checks[kind])
				kind_checks[kind](&check);
		}
	}
}
