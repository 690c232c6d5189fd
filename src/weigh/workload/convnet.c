#include "workload/convnet.h"

#include <strings.h>

/* A product's output is kept for the norm or gate behind it, and what that makes for the next product. */
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

static enum jl_status net_of(struct jl_convnet *net, const struct jl_net_info *info, struct jl_arena *arena,
			     struct jl_err *err)
{
	struct jl_conv_op *ops = jl_arena_array(arena, info->n_ops, sizeof(*ops));

	if (!ops)
		return jl_fail_nomem(err);
	for (size_t i = 0; i < info->n_ops; i++)
		ops[i] = op_of(&info->ops[i]);
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
		.ops = ops,
		.n_ops = info->n_ops,
	};
	while (net->aliases && net->aliases[net->n_aliases])
		net->n_aliases++;
	return JL_OK;
}

enum jl_status jl_convnets(struct jl_convnet_list *ret_list, const struct jl_catalog *cat, struct jl_arena *arena,
			   struct jl_err *err)
{
	struct jl_convnet *nets = jl_arena_array(arena, cat->n_convnets, sizeof(*nets));
	enum jl_status status = nets ? JL_OK : jl_fail_nomem(err);

	for (size_t i = 0; i < cat->n_convnets && !status; i++)
		status = net_of(&nets[i], &cat->convnets[i], arena, err);
	if (!status)
		*ret_list = (struct jl_convnet_list){ .nets = nets, .n_nets = cat->n_convnets };
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

double jl_convnet_update_B(const struct jl_convnet *net)
{
	/* passes of 4 bytes: SGD with momentum and weight decay 11 and zeroing; Adam 17, clipping 3 and zeroing; LAMB
	 * alike */
	static const double update_B[] = { [JL_NET_SGD] = 48, [JL_NET_ADAM] = 84, [JL_NET_LAMB] = 84 };

	return update_B[net->optimizer];
}

double jl_convnet_grad_B(const struct jl_convnet *net, enum jl_dtype dtype)
{
	return net->n_params * (net->half_grads && jl_dtype_B(dtype) <= 2 ? 2 : 4);
}
