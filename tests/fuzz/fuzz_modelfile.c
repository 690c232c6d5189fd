/* ONNX, GGUF, safetensors and their index, torch.export's JSON, networks as text and pipelines of diffusers (files that 0xff parts, brought by a
 * request): the first byte says which, or FUZZ_READER (0 to 6) for all inputs. What is read can be priced; what is not
 * has a message of one line. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/offered.h"
#include "catalog/load.h"
#include "program/convnet.h"
#include "program/modelfile.h"

extern size_t fuzz_taken __attribute__((weak)); /* generate.c: how many were taken */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static int the_reader = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *reader = getenv("FUZZ_READER");

	(void)argc;
	(void)argv;
	if (reader && reader[0] >= '0' && reader[0] <= '6')
		the_reader = reader[0] - '0';
	return 0;
}

static void must(int holds)
{
	if (!holds)
		abort();
}

/* A pipeline of up to four files. */
static enum jl_status read_pipeline(struct jl_modelfile *file, const uint8_t *data, size_t size, struct jl_arena *arena,
				    struct jl_err *err)
{
	static const char *const names[] = { "model_index.json", "unet/config.json", "vae/config.json",
					     "text_encoder/config.json" };
	struct jl_offered files[5] = { { .name = NULL } };

	for (size_t i = 0; i < 4; i++) {
		const uint8_t *end = memchr(data, 0xff, size);
		const size_t len = end ? (size_t)(end - data) : size;
		const char *text = jl_arena_strndup(arena, (const char *)data, len);

		if (!text)
			return JL_E_NOMEM;
		files[i] = (struct jl_offered){ .name = names[i], .text = text, .len = strlen(text) };
		size -= len + (end != NULL);
		data += len + (end != NULL);
	}
	const struct jl_offered *before = jl_offer(files);
	const enum jl_status status = jl_modelfile_read(file, jl_catalog_embedded(), names[0], arena, err);

	jl_offer(before);
	return status;
}

static enum jl_status read_one(const uint8_t *data, size_t size, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_network net = { .n_ops = 0 };
	struct jl_modelfile file;
	enum jl_status status = JL_E_PARSE;
	char *text = NULL;

	switch (the_reader >= 0 ? the_reader : data[0] % 7) {
	case 0: status = jl_onnx_parse(&net, data + 1, size - 1, "a.onnx", arena, err); break;
	case 1: status = jl_gguf_parse(&file, data + 1, size - 1, "a.gguf", arena, err); break;
	case 2: status = jl_safetensors_parse(&file, data + 1, size - 1, "a.safetensors", arena, err); break;
	case 3: status = jl_torchgraph_parse(&net, (const char *)data + 1, size - 1, "a.json", arena, err); break;
	case 5:
		status = jl_safetensors_index_parse(&file, (const char *)data + 1, size - 1, "a.json", arena, err);
		break;
	case 6:
		status = read_pipeline(&file, data + 1, size - 1, arena, err);
		if (status == JL_OK && file.is_network)
			net = file.net;
		break;
	default:
		text = jl_arena_strndup(arena, (const char *)data + 1, size - 1);
		if (!text)
			return JL_E_NOMEM;
		status = jl_network_expand(&net, "a", text, NULL, arena, err);
	}
	if (status == JL_OK && &fuzz_taken)
		fuzz_taken++;
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
