/* An ONNX graph as a list of operators: shapes are followed from the inputs, weights are looked at only for their sizes. Bounded;
 * nothing of the file is trusted. */
#pragma once

#include "workload/network.h"

/* `data` of `len` bytes, called `file` in messages. Sizes that the file leaves open are 1: one sample. */
enum jl_status jl_onnx_parse(struct jl_network *ret_net, const unsigned char *data, size_t len, const char *file,
			     struct jl_arena *arena, struct jl_err *err);
