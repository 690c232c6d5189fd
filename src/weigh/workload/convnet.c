#include "workload/convnet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <cyaml/cyaml.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* As the file has it; a key that is absent reads as 0. */
struct raw_op {
	enum jl_conv_kind op;
	enum jl_conv_train train;
	int per;
	bool sync, dilated;
	double count, c_in, h, w, c_out, kh, kw, stride, groups, rows, k, n, steps, heads, elems, passes, elem_B, calls;
	char *what;
};

struct raw_net {
	char *id, *name, *item, *unit, *source;
	char **aliases;
	unsigned aliases_count;
	double units_per_item, n_params, batch_per_B_half, batch_per_B_full, kept_per_output;
	enum jl_convnet_optimizer optimizer;
	bool half_grads, ignores_amp;
	struct raw_op *ops;
	unsigned ops_count;
};

struct raw_file {
	struct raw_net *convnets;
	unsigned convnets_count;
};

static const cyaml_strval_t kinds[] = {
	{ "conv", JL_CONV_CONV }, { "linear", JL_CONV_LINEAR }, { "rnn", JL_CONV_RNN },   { "cell", JL_CONV_CELL },
	{ "bmm", JL_CONV_BMM },   { "stream", JL_CONV_STREAM }, { "host", JL_CONV_HOST },
};
static const cyaml_strval_t trains[] = { { "full", JL_CONV_FULL },
					 { "first", JL_CONV_FIRST },
					 { "frozen", JL_CONV_FROZEN } };
static const cyaml_strval_t pers[] = { { "item", 0 }, { "step", 1 } };
static const cyaml_strval_t optimizers[] = { { "sgd", JL_CONVNET_SGD },
					     { "adam", JL_CONVNET_ADAM },
					     { "lamb", JL_CONVNET_LAMB } };

#define OPT                      CYAML_FLAG_OPTIONAL
#define NUMBER(type, key, flags) CYAML_FIELD_FLOAT(#key, flags, type, key)
#define TEXT(key)                CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER, struct raw_net, key, 1, 4096)

static const cyaml_schema_field_t op_fields[] = {
	CYAML_FIELD_ENUM("op", CYAML_FLAG_STRICT, struct raw_op, op, kinds, JL_LEN(kinds)),
	CYAML_FIELD_ENUM("train", OPT | CYAML_FLAG_STRICT, struct raw_op, train, trains, JL_LEN(trains)),
	CYAML_FIELD_ENUM("per", OPT | CYAML_FLAG_STRICT, struct raw_op, per, pers, JL_LEN(pers)),
	CYAML_FIELD_BOOL("sync", OPT, struct raw_op, sync),
	CYAML_FIELD_BOOL("dilated", OPT, struct raw_op, dilated),
	NUMBER(struct raw_op, count, OPT),
	NUMBER(struct raw_op, c_in, OPT),
	NUMBER(struct raw_op, h, OPT),
	NUMBER(struct raw_op, w, OPT),
	NUMBER(struct raw_op, c_out, OPT),
	NUMBER(struct raw_op, kh, OPT),
	NUMBER(struct raw_op, kw, OPT),
	NUMBER(struct raw_op, stride, OPT),
	NUMBER(struct raw_op, groups, OPT),
	NUMBER(struct raw_op, rows, OPT),
	NUMBER(struct raw_op, k, OPT),
	NUMBER(struct raw_op, n, OPT),
	NUMBER(struct raw_op, steps, OPT),
	NUMBER(struct raw_op, heads, OPT),
	NUMBER(struct raw_op, elems, OPT),
	NUMBER(struct raw_op, passes, OPT),
	NUMBER(struct raw_op, elem_B, OPT),
	NUMBER(struct raw_op, calls, OPT),
	CYAML_FIELD_STRING_PTR("what", CYAML_FLAG_POINTER | OPT, struct raw_op, what, 0, 4096),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t op_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_op, op_fields) };
static const cyaml_schema_value_t alias_value = { CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, 256) };

static const cyaml_schema_field_t net_fields[] = {
	TEXT(id),
	TEXT(name),
	CYAML_FIELD_SEQUENCE("aliases", CYAML_FLAG_POINTER | OPT, struct raw_net, aliases, &alias_value, 0, 64),
	TEXT(item),
	TEXT(unit),
	NUMBER(struct raw_net, units_per_item, 0),
	NUMBER(struct raw_net, n_params, 0),
	CYAML_FIELD_ENUM("optimizer", CYAML_FLAG_STRICT, struct raw_net, optimizer, optimizers, JL_LEN(optimizers)),
	CYAML_FIELD_BOOL("half_grads", OPT, struct raw_net, half_grads),
	CYAML_FIELD_BOOL("ignores_amp", OPT, struct raw_net, ignores_amp),
	NUMBER(struct raw_net, batch_per_B_half, 0),
	NUMBER(struct raw_net, batch_per_B_full, 0),
	NUMBER(struct raw_net, kept_per_output, OPT),
	TEXT(source),
	CYAML_FIELD_SEQUENCE("ops", CYAML_FLAG_POINTER, struct raw_net, ops, &op_value, 1, 4096),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t net_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_net, net_fields) };
static const cyaml_schema_field_t file_fields[] = {
	CYAML_FIELD_SEQUENCE("convnets", CYAML_FLAG_POINTER, struct raw_file, convnets, &net_value, 0, 1024),
	CYAML_FIELD_END,
};
static const cyaml_schema_value_t file_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct raw_file,
								     file_fields) };

/* libcyaml says why it failed only by logging: its first complaint is kept, with the place it names next. */
struct heard {
	char text[256];
};

static void hear(cyaml_log_t level, void *ctx, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

static void hear(cyaml_log_t level, void *ctx, const char *format, va_list args)
{
	struct heard *heard = ctx;
	const size_t len = strlen(heard->text);

	if (level < CYAML_LOG_WARNING || len + 1 >= sizeof(heard->text))
		return;
	vsnprintf(heard->text + len, sizeof(heard->text) - len, format, args);
	for (char *end = strchr(heard->text, '\n'); end; end = strchr(end, '\n'))
		*end = ' ';
}

/* A product's output is kept for the norm or gate behind it, and what that makes for the next product. */
static const double kept_per_output = 2;

static double or_one(double value)
{
	return value > 0 ? value : 1;
}

/* Sizes must be finite and within what any network has, so that products of them stay finite. */
static bool is_sane(const struct raw_op *raw)
{
	const double sizes[] = { raw->count, raw->c_in,   raw->h,      raw->w,      raw->c_out,  raw->kh,
				 raw->kw,    raw->stride, raw->groups, raw->rows,   raw->k,      raw->n,
				 raw->steps, raw->heads,  raw->elems,  raw->passes, raw->elem_B, raw->calls };

	for (size_t i = 0; i < JL_LEN(sizes); i++) {
		if (!(sizes[i] >= 0 && sizes[i] <= 1e15))
			return false;
	}
	switch (raw->op) {
	case JL_CONV_CONV: return raw->c_in > 0 && raw->c_out > 0 && raw->h > 0 && raw->w > 0;
	case JL_CONV_STREAM: return raw->elems > 0 && raw->passes > 0;
	case JL_CONV_HOST: return raw->calls > 0;
	default: return raw->rows > 0 && raw->k > 0 && raw->n > 0;
	}
}

static struct jl_conv_op cook_op(const struct raw_op *raw)
{
	return (struct jl_conv_op){
		.kind = raw->op,
		.train = raw->train,
		.per_step = raw->per,
		.sync = raw->sync,
		.dilated = raw->dilated,
		.count = or_one(raw->count),
		.c_in = raw->c_in,
		.h = raw->h,
		.w = raw->w,
		.c_out = raw->c_out,
		.kh = or_one(raw->kh),
		.kw = or_one(raw->kw),
		.stride = or_one(raw->stride),
		.groups = or_one(raw->groups),
		.rows = raw->rows,
		.k = raw->k,
		.n = raw->n,
		.steps = or_one(raw->steps),
		.heads = or_one(raw->heads),
		.elems = raw->elems,
		.passes = raw->passes,
		.elem_B = raw->elem_B,
		.calls = raw->calls,
	};
}

static enum jl_status cook_net(struct jl_convnet *net, const struct raw_net *raw, const char *name,
			       struct jl_arena *arena, struct jl_err *err)
{
	struct jl_conv_op *ops = jl_arena_array(arena, raw->ops_count, sizeof(*ops));
	const char **aliases = jl_arena_array(arena, raw->aliases_count + 1, sizeof(*aliases));

	*net = (struct jl_convnet){
		.id = jl_arena_strdup(arena, raw->id),
		.name = jl_arena_strdup(arena, raw->name),
		.aliases = aliases,
		.n_aliases = raw->aliases_count,
		.item = jl_arena_strdup(arena, raw->item),
		.unit = jl_arena_strdup(arena, raw->unit),
		.source = jl_arena_strdup(arena, raw->source),
		.units_per_item = raw->units_per_item,
		.n_params = raw->n_params,
		.optimizer = raw->optimizer,
		.half_grads = raw->half_grads,
		.ignores_amp = raw->ignores_amp,
		.batch_per_B_half = raw->batch_per_B_half,
		.batch_per_B_full = raw->batch_per_B_full,
		.kept_per_output = raw->kept_per_output > 0 ? raw->kept_per_output : kept_per_output,
		.ops = ops,
		.n_ops = raw->ops_count,
	};
	if (!ops || !aliases || !net->id || !net->name || !net->item || !net->unit || !net->source)
		return jl_fail_nomem(err);
	if (!(net->kept_per_output <= 1e3))
		return jl_fail(err, JL_E_RANGE, "%s: %s: kept_per_output is %g; it is 2 with norms or gates, 1 without",
			       "%s: %s: kept_per_output이 %g입니다. 정규화나 게이트가 있으면 2, 없으면 1입니다", name,
			       raw->id, raw->kept_per_output);
	if (!(raw->units_per_item > 0 && raw->units_per_item < 1e15 && raw->n_params > 0 && raw->n_params < 1e15))
		return jl_fail(err, JL_E_RANGE, "%s: %s: units_per_item and n_params must be positive numbers",
			       "%s: %s: units_per_item과 n_params는 양수여야 합니다", name, raw->id);
	for (unsigned i = 0; i < raw->aliases_count; i++) {
		aliases[i] = jl_arena_strdup(arena, raw->aliases[i]);
		if (!aliases[i])
			return jl_fail_nomem(err);
	}
	for (unsigned i = 0; i < raw->ops_count; i++) {
		if (!is_sane(&raw->ops[i]))
			return jl_fail(err, JL_E_RANGE,
				       "%s: %s: operator %u lacks a size or has one that no network has; e.g. "
				       "{op: conv, c_in: 64, h: 56, w: 56, c_out: 256}",
				       "%s: %s: 연산자 %u에 크기가 없거나 있을 수 없는 크기입니다. 예: "
				       "{op: conv, c_in: 64, h: 56, w: 56, c_out: 256}",
				       name, raw->id, i + 1);
		ops[i] = cook_op(&raw->ops[i]);
	}
	return JL_OK;
}

enum jl_status jl_convnet_parse(struct jl_convnet_list *ret_list, const char *text, size_t len, const char *name,
				struct jl_arena *arena, struct jl_err *err)
{
	struct heard heard = { "" };
	const cyaml_config_t config = { .log_fn = hear,
					.log_ctx = &heard,
					.log_level = CYAML_LOG_WARNING,
					.mem_fn = cyaml_mem,
					.flags = CYAML_CFG_NO_ALIAS };
	struct raw_file *raw = NULL;
	enum jl_status status = JL_OK;
	const cyaml_err_t fault = cyaml_load_data((const uint8_t *)text, len, &config, &file_value,
						  (cyaml_data_t **)&raw, NULL);

	if (fault != CYAML_OK)
		return jl_fail(err, JL_E_PARSE, "%s: %s (%s)", "%s: %s (%s)", name, cyaml_strerror(fault), heard.text);
	if (!raw)
		return jl_fail(err, JL_E_PARSE, "%s: empty; a list 'convnets:' was expected",
			       "%s: 비어 있습니다. 'convnets:' 목록이 있어야 합니다", name);
	const unsigned n = raw->convnets_count;
	struct jl_convnet *nets = jl_arena_array(arena, n + 1, sizeof(*nets));

	if (!nets)
		status = jl_fail_nomem(err);
	for (unsigned i = 0; i < n && status == JL_OK; i++)
		status = cook_net(&nets[i], &raw->convnets[i], name, arena, err);
	if (status == JL_OK)
		*ret_list = (struct jl_convnet_list){ .nets = nets, .n_nets = n };
	cyaml_free(&config, &file_value, raw, 0);
	return status;
}

enum jl_status jl_convnet_load(struct jl_convnet_list *ret_list, const char *path, struct jl_arena *arena,
			       struct jl_err *err)
{
	struct jl_buf text;
	enum jl_status status = jl_buf_read_file(&text, path, JL_CONVNET_FILE_MAX_B, err);

	if (status != JL_OK)
		return status;
	status = jl_convnet_parse(ret_list, jl_buf_text(&text), text.len, path, arena, err);
	jl_buf_release(&text);
	return status;
}

/* Made by the build from catalog/models/convnets.yaml. */
extern const unsigned char jl_convnets_text[];
extern const size_t jl_convnets_text_len;

enum jl_status jl_convnets_embedded(struct jl_convnet_list *ret_list, struct jl_arena *arena, struct jl_err *err)
{
	return jl_convnet_parse(ret_list, (const char *)jl_convnets_text, jl_convnets_text_len, "convnets.yaml", arena,
				err);
}

const struct jl_convnet *jl_convnet_find(const struct jl_convnet_list *list, const char *name)
{
	for (size_t i = 0; i < list->n_nets; i++) {
		const struct jl_convnet *net = &list->nets[i];

		if (strcasecmp(net->id, name) == 0)
			return net;
		for (size_t a = 0; a < net->n_aliases; a++) {
			if (strcasecmp(net->aliases[a], name) == 0)
				return net;
		}
	}
	return NULL;
}

double jl_convnet_update_B(const struct jl_convnet *net)
{
	/* passes of 4 bytes: SGD with momentum and weight decay 11 and zeroing; Adam 17, clipping 3 and zeroing; LAMB
	 * alike */
	static const double update_B[] = { [JL_CONVNET_SGD] = 48, [JL_CONVNET_ADAM] = 84, [JL_CONVNET_LAMB] = 84 };

	return update_B[net->optimizer];
}

double jl_convnet_grad_B(const struct jl_convnet *net, enum jl_dtype dtype)
{
	return net->n_params * (net->half_grads && jl_dtype_B(dtype) <= 2 ? 2 : 4);
}
