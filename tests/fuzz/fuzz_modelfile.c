/* ONNX, GGUF, safetensors, torch.export's JSON and networks as text: the first byte says which. What is read can be priced; what is not
 * has a message of one line. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workload/convnet.h"
#include "workload/modelfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static enum jl_status read_one(const uint8_t *data, size_t size, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_network net = { .n_ops = 0 };
	struct jl_modelfile file;
	enum jl_status status = JL_E_PARSE;
	char *text = NULL;

	switch (data[0] % 5) {
	case 0: status = jl_onnx_parse(&net, data + 1, size - 1, "a.onnx", arena, err); break;
	case 1: status = jl_gguf_parse(&file, data + 1, size - 1, "a.gguf", arena, err); break;
	case 2: status = jl_safetensors_parse(&file, data + 1, size - 1, "a.safetensors", arena, err); break;
	case 3: status = jl_torchgraph_parse(&net, (const char *)data + 1, size - 1, "a.json", arena, err); break;
	default:
		text = jl_arena_strndup(arena, (const char *)data + 1, size - 1);
		if (!text)
			return JL_E_NOMEM;
		status = jl_network_expand(&net, "a", text, NULL, arena, err);
	}
	if (status == JL_OK && net.n_ops) {
		const struct jl_layers_total total = jl_layers_sum(net.ops, net.n_ops);

		must(isfinite(total.mac) && total.mac >= 0 && isfinite(net.n_params));
	}
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jl_arena arena;
	struct jl_err err = { 0 };

	if (size < 1)
		return 0;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const enum jl_status status = read_one(data, size, &arena, &err);

	if (status != JL_OK && status != JL_E_NOTFOUND && status != JL_E_NOMEM)
		must(err.en[0] && !strchr(err.en, '\n') && !strchr(err.text, '\n'));
	jl_arena_release(&arena);
	return 0;
}
