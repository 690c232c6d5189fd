#include "workload/layers.h"

static const char *const kind_names[JL_N_CONV_KIND] = {
	[JL_CONV_CONV] = "conv",     [JL_CONV_LINEAR] = "linear", [JL_CONV_RNN] = "rnn",
	[JL_CONV_CELL] = "cell",     [JL_CONV_BMM] = "bmm",       [JL_CONV_ATTENTION] = "attention",
	[JL_CONV_STREAM] = "stream", [JL_CONV_HOST] = "host",
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
		total.saved += jl_conv_op_saved(op);
		if (op->kind == JL_CONV_STREAM)
			total.streamed += op->elems * op->passes;
		if (op->kind == JL_CONV_HOST)
			*(op->per_step ? &total.calls_step : &total.calls_item) += op->calls;
	}
	return total;
}
