/* Loads networks given as operator lists, by name or from a family's rule. Knows no device. */
#include "program/convnet.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "catalog/names.h"
#include "program/network.h"

/* per output of a product, kept elements: the output itself for the norm or gate behind it, and that one's output for the next product */
static const double kept_per_output = 2;

static double or_one(double value)
{
	return value > 0 ? value : 1;
}

static struct jl_conv_op op_of(const struct jl_net_op *op)
{
	return (struct jl_conv_op){
		.kind = (enum jl_conv_kind)op->op,
		.train = (enum jl_conv_train)op->train,
		.per_step = op->per,
		.sync = op->sync,
		.dilated = op->dilated,
		.count = or_one(op->count),
		.c_in = op->c_in,
		.h = op->h,
		.w = op->w,
		.c_out = op->c_out,
		.kh = or_one(op->kh),
		.kw = or_one(op->kw),
		.stride = or_one(op->stride),
		.groups = or_one(op->groups),
		.rows = op->rows,
		.k = op->k,
		.n = op->n,
		.steps = or_one(op->steps),
		.heads = or_one(op->heads),
		.elems = op->elems,
		.passes = op->passes,
		.elem_B = op->elem_B,
		.calls = op->calls,
	};
}

_Static_assert((int)JL_NET_HOST == (int)JL_CONV_HOST && (int)JL_NET_FROZEN == (int)JL_CONV_FROZEN,
	       "the catalog's words are the model's, in the same order");

static void header(struct jl_convnet *net, const struct jl_net_info *info)
{
	*net = (struct jl_convnet){
		.id = info->id,
		.name = info->name,
		.aliases = info->aliases,
		.item = info->item,
		.unit = info->unit,
		.source = info->source,
		.units_per_item = info->units_per_item,
		.n_params = info->n_params,
		.optimizer = info->optimizer,
		.half_grads = info->half_grads,
		.ignores_amp = info->ignores_amp,
		.batch_per_B_half = info->batch_per_B_half,
		.batch_per_B_full = info->batch_per_B_full,
		.kept_per_output = info->kept_per_output > 0 ? info->kept_per_output : kept_per_output,
	};
	while (net->aliases && net->aliases[net->n_aliases])
		net->n_aliases++;
}

static enum jl_status from_list(struct jl_convnet *net, const struct jl_net_info *info, struct jl_arena *arena,
				struct jl_err *err)
{
	struct jl_conv_op *ops = jl_arena_array(arena, info->n_ops, sizeof(*ops));

	JL_TRY(jl_got(ops, err));
	for (size_t i = 0; i < info->n_ops; i++)
		ops[i] = op_of(&info->ops[i]);
	header(net, info);
	net->ops = ops;
	net->n_ops = info->n_ops;
	return JL_OK;
}

/* `own`: record with name, batch and source; NULL: the family's. */
static enum jl_status from_text(struct jl_convnet *net, const struct jl_net_info *family, const struct jl_net_info *own,
				const char *name, const char *settings, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_network text;

	JL_TRY(jl_network_expand(&text, name, family->program, settings, arena, err));
	header(net, own ? own : family);
	if (!own) {
		net->id = jl_arena_strdup(arena, name);
		net->name = jl_arena_printf(arena, "%s (%s)", name, family->name);
		net->aliases = NULL;
		net->n_aliases = 0;
	}
	net->n_params = text.n_params;
	net->n_still = text.n_still;
	net->n_outputs = text.n_outputs;
	net->pixels = text.h * text.w;
	net->ops = text.ops;
	net->n_ops = text.n_ops;
	return net->id && net->name ? JL_OK : jl_fail_nomem(err);
}

/* Splits "resnet50@288" into name and image size. */
static bool cut_name(const char *name, char out[JL_NET_NAME_MAX], double *ret_image)
{
	const char *slash = strrchr(name, '/'); /* "openai/whisper-tiny" has an owner in front, "vit-b/16" does not */

	name = slash && isalpha((unsigned char)slash[1]) ? slash + 1 : name;
	const size_t len = strcspn(name, "@");
	size_t used = 0;

	*ret_image = NAN;
	if (len >= JL_NET_NAME_MAX)
		return false;
	memcpy(out, name, len);
	out[len] = '\0';
	return !name[len] || (jl_num_parse(name + len + 1, ret_image, &used) == JL_NUM_OK && !name[len + 1 + used] &&
			      *ret_image >= 1 && *ret_image <= 1e5);
}

void jl_convnet_of_file(struct jl_convnet *net, const struct jl_network *file, const struct jl_net_info *info,
			const char *path)
{
	static const struct jl_net_info usual = {
		.item = JL_N("sample"), .unit = "samples", .units_per_item = 1, .optimizer = JL_NET_ADAM
	};

	header(net, info ? info : &usual);
	net->id = net->name = path;
	net->aliases = NULL;
	net->n_aliases = 0;
	net->n_params = file->n_params;
	net->n_still = file->n_still;
	net->n_outputs = file->n_outputs;
	net->pixels = file->h * file->w;
	net->file_batch = file->batch;
	net->ops = file->ops;
	net->n_ops = file->n_ops;
}

static bool is_called(const struct jl_net_info *info, const char *name)
{
	bool is = strcasecmp(info->id, name) == 0;

	for (size_t a = 0; !is && info->aliases && info->aliases[a]; a++)
		is = strcasecmp(info->aliases[a], name) == 0;
	return is;
}

#define SETTINGS_MAX 1024

/* Record with this name that is not a family. */
static const struct jl_net_info *own_record(const struct jl_catalog *cat, const char *name)
{
	for (size_t i = 0; i < cat->n_convnets; i++)
		if (!cat->convnets[i].program && is_called(&cat->convnets[i], name))
			return &cat->convnets[i];
	return NULL;
}

static enum jl_status load_named(struct jl_convnet *ret_net, const struct jl_catalog *cat, const char *name,
				 struct jl_arena *arena, struct jl_err *err)
{
	char plain[JL_NET_NAME_MAX], settings[SETTINGS_MAX];
	const struct jl_net_info *own;
	double image;

	if (!cut_name(name, plain, &image))
		return JL_E_NOTFOUND;
	own = own_record(cat, plain);
	if (own && own->n_ops && isnan(image))
		return from_list(ret_net, own, arena, err);
	for (size_t i = 0; i < cat->n_convnets; i++) {
		const struct jl_net_info *info = &cat->convnets[i];
		const size_t room = sizeof(settings) - 40;

		if (!info->program || strncmp(info->id, "described", 9) == 0 ||
		    !jl_network_name(settings, room, info->words, own && own->text ? own->text : plain))
			continue;
		if (!isnan(image)) {
			const size_t len = strlen(settings);

			snprintf(settings + len, sizeof(settings) - len, " img=%.0f", image);
		}
		return from_text(ret_net, info, isnan(image) ? own : NULL, name, settings, arena, err);
	}
	return JL_E_NOTFOUND;
}

/* Listed network with the same words: "EfficientNet v2 S" is efficientnetv2_s. */
static const char *same_words(const struct jl_catalog *cat, const char *name)
{
	struct jl_convnet_at at = { 0 };
	struct jl_words words, have;
	const char *listed;

	jl_words_split(&words, name);
	while ((listed = jl_convnet_next(cat, &at))) {
		jl_words_split(&have, listed);
		if (jl_words_equal(&have, &words))
			return listed;
	}
	return NULL;
}

/* Tries in order: the name as written, a rule of catalog/names.yaml, its words, and the name without timm's weight tag (".a1_in1k"). */
enum jl_status jl_convnet_load(struct jl_convnet *ret_net, const struct jl_catalog *cat, const char *name,
			       struct jl_arena *arena, struct jl_err *err)
{
	enum jl_status status = load_named(ret_net, cat, name, arena, err);
	char plain[JL_NAME_MAX + 1];
	const char *listed;
	int n;

	if (status != JL_E_NOTFOUND || strnlen(name, JL_NAME_MAX + 1) > JL_NAME_MAX)
		return status;
	jl_name_of_model(plain, name);
	for (int i = 0; i < 2 && status == JL_E_NOTFOUND; i++) {
		const struct jl_named named = jl_named(cat, "model-name", plain);

		listed = named.rule ? jl_named_id(&named, &n) : same_words(cat, plain);
		if (i > 0 || listed)
			status = load_named(ret_net, cat, listed ? listed : plain, arena, err);
		if (named.rule && !status)
			jl_named_note(cat, &named, name);
		plain[strcspn(plain, ".")] = '\0';
	}
	return status;
}

enum jl_status jl_convnet_described(struct jl_convnet *ret_net, const struct jl_catalog *cat,
				    const struct jl_convnet_figures *f, struct jl_arena *arena, struct jl_err *err)
{
	char settings[SETTINGS_MAX], figures[200];

	if (!(f->mac > 0 && f->mac <= 1e18 && f->n_params > 0 && f->n_params <= 1e15) ||
	    (!isnan(f->n_outputs) && !(f->n_outputs > 0 && f->n_outputs <= f->mac)))
		return jl_fail(err, JL_E_RANGE,
			       "a network of %g multiply-adds, %g activations and %g parameters cannot be", f->mac,
			       f->n_outputs, f->n_params);
	snprintf(figures, sizeof(figures), "mac=%.0f act=%.0f params=%.0f img=%.0f", f->mac,
		 isnan(f->n_outputs) ? 0 : f->n_outputs, f->n_params, isnan(f->image) ? 224 : f->image);
	for (size_t i = 0; i < cat->n_convnets; i++) {
		const struct jl_net_info *info = &cat->convnets[i];

		if (info->program && strncmp(info->id, "described", 9) == 0 && f->kind &&
		    jl_network_name(settings, sizeof(settings) - sizeof(figures) - 1, info->words, f->kind)) {
			enum jl_status status;

			(void)snprintf(settings + strlen(settings), sizeof(figures), "%s", figures);
			status = from_text(ret_net, info, NULL, f->name, settings, arena, err);
			if (!status)
				ret_net->n_params = f->n_params;
			return status;
		}
	}
	return jl_fail(err, JL_E_NOTFOUND, "no description of networks of the kind '%s'", f->kind);
}

const char *jl_convnet_next(const struct jl_catalog *cat, struct jl_convnet_at *at)
{
	for (; at->record < cat->n_convnets; at->record++, at->name = 0) {
		const struct jl_net_info *info = &cat->convnets[at->record];
		const size_t first = info->program ? 0 : 1, k = at->name++;

		if (k < first)
			return info->id;
		if (info->members && info->members[k - first])
			return info->members[k - first];
	}
	return NULL;
}

const char *jl_convnet_listed(const struct jl_catalog *cat, const char *name)
{
	const struct jl_net_info *own = own_record(cat, name);
	struct jl_convnet_at at = { 0 };
	const char *listed = own ? own->id : NULL;

	while (!own && (listed = jl_convnet_next(cat, &at)) && strcasecmp(listed, name) != 0)
		;
	return listed;
}

enum jl_status jl_convnets(struct jl_convnet_list *ret_list, const struct jl_catalog *cat, struct jl_arena *arena,
			   struct jl_err *err)
{
	enum jl_status status = JL_OK;
	struct jl_convnet *nets;
	const char *name;
	size_t n = 0;

	for (struct jl_convnet_at at = { 0 }; jl_convnet_next(cat, &at);)
		n++;
	nets = jl_arena_array(arena, n, sizeof(*nets));
	JL_TRY(jl_got(nets, err));
	n = 0;
	for (struct jl_convnet_at at = { 0 }; !status && (name = jl_convnet_next(cat, &at));)
		status = jl_convnet_load(&nets[n++], cat, name, arena, err);
	if (!status)
		*ret_list = (struct jl_convnet_list){ .nets = nets, .n_nets = n };
	return status;
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

double jl_convnet_update_B(enum jl_net_optimizer optimizer)
{
	/* bytes per parameter, from fp32 passes: SGD with momentum and weight decay 11 + zeroing; Adam 17 + clipping 3 + zeroing; LAMB the same */
	static const double update_B[] = { [JL_NET_SGD] = 48, [JL_NET_ADAM] = 84, [JL_NET_LAMB] = 84 };

	return update_B[optimizer];
}

double jl_convnet_grad_B(const struct jl_convnet *net, enum jl_dtype dtype)
{
	return (net->n_params - net->n_still) * (net->half_grads && jl_dtype_B(dtype) <= 2 ? 2 : 4);
}

static const char *const kind_names[JL_N_CONV_KIND] = {
	[JL_CONV_CONV] = "conv",     [JL_CONV_LINEAR] = "linear", [JL_CONV_RNN] = "rnn",
	[JL_CONV_CELL] = "cell",     [JL_CONV_BMM] = "bmm",       [JL_CONV_ATTENTION] = "attention",
	[JL_CONV_STREAM] = "stream", [JL_CONV_HOST] = "host",     [JL_CONV_BLOCK] = "block",
};

const char *jl_layers_kind_name(enum jl_conv_kind kind)
{
	return (size_t)kind < JL_N_CONV_KIND ? kind_names[kind] : "?";
}

struct jl_layers_total jl_layers_sum(const struct jl_conv_op *ops, size_t n_ops)
{
	struct jl_layers_total total = { 0 };

	for (size_t i = 0; i < n_ops; i++) {
		const struct jl_conv_op *op = &ops[i];
		const double mac = op->per_step ? 0 : jl_conv_op_mac(op);

		total.mac += mac;
		total.mac_kind[op->kind] += mac;
		total.weights += jl_conv_op_weights(op);
		total.saved += op->inside ? 0 : jl_conv_op_saved(op);
		if (op->kind == JL_CONV_STREAM)
			total.streamed += op->elems * op->passes;
		if (op->kind == JL_CONV_HOST)
			*(op->per_step ? &total.calls_step : &total.calls_item) += op->calls;
	}
	return total;
}
