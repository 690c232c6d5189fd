/* Finds the model to train by its name: a transformer of the catalog, or a network of the catalog that is a vision transformer. */
#include "catalog/find.h"

#include "train/shape.h"
#include "program/convnet.h"

/* Recognises a plain vision transformer: one patch convolution, blocks, one product at the end. Variants (registers, layer scale) have
 * additional parameters, so the parameter count must match. */
static bool from_network(struct jl_model_info *info, const struct jl_convnet *net)
{
	struct jl_conv_op patch = { 0 }, block = { 0 }, head = { 0 };
	struct jl_train_shape shape;
	struct jl_err err;

	for (const struct jl_conv_op *op = net->ops; op < net->ops + net->n_ops; op++)
		if (op->kind == JL_CONV_CONV)
			patch = *op;
		else if (op->kind == JL_CONV_BLOCK)
			block = *op;
		else if (op->kind == JL_CONV_LINEAR && !op->inside)
			head = *op;
	*info = (struct jl_model_info){ .id = net->id,
					.name = net->name,
					.family = "vit",
					.n_layers = (int)block.count,
					.hidden = block.k,
					.heads = block.heads,
					.kv_heads = block.heads,
					.head_dim = block.k / block.heads,
					.ffn = block.n,
					.vocab = head.n,
					.positions = block.rows,
					.patch = patch.kh,
					.bias = true,
					.final_norm = true };
	return patch.kh > 0 && patch.c_in == 3 && block.rows == patch.h / patch.kh * patch.w / patch.kh + 1 &&
	       jl_train_shape(info, 1, &shape, &err) == JL_OK && (double)shape.n_params == net->n_params;
}

enum jl_status jl_train_find(const struct jl_model_info **ret_model, const struct jl_catalog *cat, const char *name,
			     struct jl_arena *arena, struct jl_err *err)
{
	struct jl_convnet net;
	struct jl_err why;
	enum jl_status status = jl_find_model(ret_model, cat, name, err);
	if ((status != JL_E_NOTFOUND && status != JL_E_AMBIGUOUS) ||
	    jl_convnet_load(&net, cat, name, arena, &why) != JL_OK)
		return status;
	struct jl_model_info *info = jl_arena_alloc(arena, sizeof *info);
	JL_TRY(jl_got(info, err));
	if (!from_network(info, &net))
		return status;
	*ret_model = info;
	return JL_OK;
}
