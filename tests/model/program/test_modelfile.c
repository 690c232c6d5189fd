/* Model files: exports by torch, generated headers, and hostile files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/offered.h"
#include "catalog/load.h"
#include "program/convnet.h"
#include "program/modelfile.h"

static struct jl_arena arena;

static int begin(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int end(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static double products(const struct jl_network *net)
{
	const struct jl_layers_total total = jl_layers_sum(net->ops, net->n_ops);

	return total.mac - total.mac_kind[JL_CONV_STREAM];
}

/* Exported by torch 1.13 (bench/onnx/export.py), weights removed. Counts: published for ResNet-50 and ViT-B/16, by formula for BERT, by hand for
 * the block. */
static void test_what_torch_exports(void **state)
{
	const double tokens = 128, width = 768, heads_mac = 2 * tokens * tokens * width;
	const double bert = 12 * (12 * width * width * tokens + heads_mac) + tokens * width * 30522;
	const double c = 64, fine = 32 * 32, coarse = 16 * 16;
	const double block = fine * 9 * (4 * c + c * c + 2 * c * 4) + coarse * 9 * c * 2 * c + coarse * 12 * 4 * c * c +
			     2 * coarse * coarse * 2 * c + coarse * 4 * 2 * c * c;
	const struct {
		const char *file;
		double mac;
	} files[] = { { "resnet50", 4.089e9 }, { "vit_b_16", 17.56e9 }, { "bert", bert }, { "unet_block", block } };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct jl_modelfile file;
		struct jl_err err = { 0 };
		char path[512];

		snprintf(path, sizeof(path), JL_SOURCE_DIR "/tests/fixtures/onnx/%s.onnx", files[i].file);
		if (jl_modelfile_read(&file, jl_catalog_embedded(), path, &arena, &err) != JL_OK)
			fail_msg("%s", err.en);
		assert_true(file.is_network && file.net.n_params > 1e5);
		if (!(fabs(products(&file.net) / files[i].mac - 1) < 0.01))
			fail_msg("%s: %.4g multiply-adds, torch has %.4g", files[i].file, products(&file.net),
				 files[i].mac);
	}
}

/* Configurations that the catalog has as network texts: published parameter counts. */
static void test_configurations_of_other_networks(void **state)
{
	static const struct {
		const char *text;
		double params;
	} files[] = {
		{ "{\"model_type\":\"t5\",\"d_ff\":3072,\"d_kv\":64,\"d_model\":768,\"num_heads\":12,\"num_layers\":12,"
		  "\"num_decoder_layers\":12,\"vocab_size\":32128,\"relative_attention_num_buckets\":32,"
		  "\"tie_word_embeddings\":true}",
		  222903552 },
		{ "{\"model_type\":\"whisper\",\"d_model\":768,\"decoder_attention_heads\":12,\"decoder_ffn_dim\":3072,"
		  "\"decoder_layers\":12,\"encoder_attention_heads\":12,\"encoder_ffn_dim\":3072,\"encoder_layers\":12,"
		  "\"max_source_positions\":1500,\"max_target_positions\":448,\"num_mel_bins\":80,\"vocab_size\":"
		  "51865}",
		  241734912 },
		{ "{\"model_type\":\"vit\",\"hidden_size\":768,\"image_size\":224,\"intermediate_size\":3072,"
		  "\"num_attention_heads\":12,\"num_hidden_layers\":12,\"patch_size\":16,\"num_channels\":3}",
		  85798656 },
		{ "{\"model_type\":\"mamba\",\"hidden_size\":768,\"num_hidden_layers\":24,\"vocab_size\":50280,\"state_"
		  "size\":16,"
		  "\"conv_kernel\":4,\"expand\":2,\"initializer_range\":1e-05}",
		  129135360 },
		{ "{\"model_type\":\"clip\",\"projection_dim\":768,\"text_config\":{\"hidden_size\":768,\"num_"
		  "attention_heads\":12},"
		  "\"vision_config\":{\"hidden_size\":1024,\"num_attention_heads\":16,\"num_hidden_layers\":24,\"patch_"
		  "size\":14}}",
		  427616513 },
		{ "{\"model_type\":\"clip_text_model\",\"architectures\":[\"CLIPTextModelWithProjection\"],\"hidden_"
		  "size\":1280,"
		  "\"intermediate_size\":5120,\"num_attention_heads\":20,\"num_hidden_layers\":32,\"projection_dim\":"
		  "1280}",
		  694659840 },
		{ "{\"_class_name\":\"UNet2DConditionModel\",\"attention_head_dim\":[5,10,20],\"block_out_channels\":["
		  "320,640,1280],"
		  "\"cross_attention_dim\":2048,\"down_block_types\":[\"DownBlock2D\",\"CrossAttnDownBlock2D\","
		  "\"CrossAttnDownBlock2D\"],"
		  "\"transformer_layers_per_block\":[1,2,10],\"projection_class_embeddings_input_dim\":2816,\"sample_"
		  "size\":128}",
		  2567463684 },
	};
	char path[] = "/tmp/jeoul-config-XXXXXX.json";
	const int fd = mkstemps(path, 5);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct jl_modelfile file;
		struct jl_err err = { 0 };
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fputs(files[i].text, out);
		fclose(out);
		if (jl_modelfile_read(&file, jl_catalog_embedded(), path, &arena, &err) != JL_OK)
			fail_msg("%s", err.en);
		assert_true(file.is_network && file.net.n_params == files[i].params);
	}
	unlink(path);
}

struct bytes {
	unsigned char data[4096];
	size_t len;
};

static void put(struct bytes *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void put_number(struct bytes *b, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->data[b->len++] = (unsigned char)(value >> (8 * i));
}

static void put_text(struct bytes *b, const char *text)
{
	put_number(b, strlen(text), 8);
	put(b, text, strlen(text));
}

static void put_key(struct bytes *b, const char *key, uint64_t value)
{
	put_text(b, key);
	put_number(b, 4, 4);
	put_number(b, value, 4);
}

/* Llama-3-8B's keys; two tensors give the weight format. */
static struct bytes gguf(void)
{
	struct bytes b = { .len = 0 };

	put(&b, "GGUF", 4);
	put_number(&b, 3, 4);
	put_number(&b, 2, 8);
	put_number(&b, 8, 8);
	put_text(&b, "general.architecture");
	put_number(&b, 8, 4);
	put_text(&b, "llama");
	put_key(&b, "llama.block_count", 32);
	put_key(&b, "llama.embedding_length", 4096);
	put_key(&b, "llama.feed_forward_length", 14336);
	put_key(&b, "llama.attention.head_count", 32);
	put_key(&b, "llama.attention.head_count_kv", 8);
	put_key(&b, "llama.context_length", 8192);
	put_key(&b, "llama.vocab_size", 128256);
	for (int i = 0; i < 2; i++) {
		put_text(&b, i ? "output.weight" : "token_embd.weight");
		put_number(&b, 2, 4);
		put_number(&b, 4096, 8);
		put_number(&b, 128256, 8);
		put_number(&b, i ? 14 : 12, 4); /* Q6_K, Q4_K */
		put_number(&b, 0, 8);
	}
	return b;
}

static void test_gguf(void **state)
{
	const struct bytes b = gguf();
	struct jl_modelfile file;
	struct jl_err err = { 0 };

	(void)state;
	if (jl_gguf_parse(&file, b.data, b.len, "a.gguf", &arena, &err) != JL_OK)
		fail_msg("%s", err.en);
	assert_true(jl_transformer_params(&file.config.model).total == 8030261248.0 && file.config.seq == 8192);
	assert_true(file.n_params == 2.0 * 4096 * 128256);
	assert_true(fabs(8 * file.weights_B / file.n_params - (4.5 + 6.5625) / 2) < 1e-9);
	/* truncated anywhere: refused with one line */
	for (size_t len = 0; len < b.len; len++) {
		err = (struct jl_err){ 0 };
		assert_true(jl_gguf_parse(&file, b.data, len, "a.gguf", &arena, &err) != JL_OK);
		assert_true(err.en[0] && !strchr(err.en, '\n'));
	}
}

static const char tensors[] =
	"{\"__metadata__\":{\"format\":\"pt\"},"
	"\"model.embed_tokens.weight\":{\"dtype\":\"BF16\",\"shape\":[1000,2048],\"data_offsets\":[0,4096000]},"
	"\"model.layers.0.self_attn.q_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[2048,2048],\"data_offsets\":[0,0]},"
	"\"model.layers.0.self_attn.k_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[512,2048],\"data_offsets\":[0,0]},"
	"\"model.layers.1.mlp.gate_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[8192,2048],\"data_offsets\":[0,0]}}";

static void test_safetensors(void **state)
{
	struct bytes b = { .len = 0 };
	struct jl_modelfile file;
	struct jl_err err = { 0 };

	(void)state;
	put_text(&b, tensors);
	if (jl_safetensors_parse(&file, b.data, b.len, "a.safetensors", &arena, &err) != JL_OK)
		fail_msg("%s", err.en);
	assert_true(file.config.model.n_layers == 2 && file.config.model.hidden == 2048 &&
		    file.config.model.heads == 16);
	assert_true(file.config.model.kv_heads == 4 && file.config.model.ffn == 8192 &&
		    file.config.model.vocab == 1000);
	assert_true(file.n_params == 2048.0 * (1000 + 2048 + 512 + 8192) && file.weights_B == 2 * file.n_params);
	for (size_t len = 0; len < b.len; len++)
		assert_true(jl_safetensors_parse(&file, b.data, len, "a.safetensors", &arena, &err) != JL_OK);
}

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *out = fopen(path, "wb");

	assert_non_null(out);
	assert_true(fwrite(data, 1, len, out) == len && fclose(out) == 0);
}

/* Sharded weights: by index, or all files of a folder. */
static void test_shards(void **state)
{
	static const char *const shard[] = {
		"{\"model.embed_tokens.weight\":{\"dtype\":\"BF16\",\"shape\":[1000,2048],\"data_offsets\":[0,0]},"
		"\"model.layers.0.self_attn.q_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[2048,2048]}}",
		"{\"model.layers.0.self_attn.k_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[512,2048]},"
		"\"model.layers.1.mlp.gate_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[8192,2048]}}"
	};
	static const struct {
		const char *index, *says;
	} bad[] = {
		{ "{\"weight_map\":{}}", "weight_map" },
		{ "{\"weight_map\":[1]}", "weight_map" },
		{ "{\"weight_map\":{\"a\":\"../../etc/b.safetensors\"}}", "same folder" },
		{ "{\"weight_map\":{\"a\":\"/etc/passwd\"}}", "same folder" },
		{ "{\"weight_map\":{\"a\":7}}", "same folder" },
		{ "{\"weight_map\":{\"a\":\"none.safetensors\"}}", "none.safetensors" },
		{ "{\"weight_map\":{\"a\":\"m-1.safetensors\"}}", "names 1 tensors, and the files hold 2" },
	};
	char folder[] = "/tmp/jeoul-shards-XXXXXX", path[128], index[128];
	struct jl_modelfile file;
	struct jl_err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		struct bytes b = { .len = 0 };

		put_text(&b, shard[i]);
		snprintf(path, sizeof(path), "%s/m-%d.safetensors", folder, i + 1);
		write_file(path, b.data, b.len);
	}
	for (int with_index = 0; with_index < 2; with_index++) {
		const char good[] = "{\"metadata\":{\"total_size\":1},\"weight_map\":{\"a\":\"m-1.safetensors\",\"b\":"
				    "\"m-1.safetensors\","
				    "\"c\":\"m-2.safetensors\",\"d\":\"m-2.safetensors\"}}";

		snprintf(index, sizeof(index), "%s/model.safetensors.index.json", folder);
		if (with_index)
			write_file(index, good, strlen(good));
		if (jl_modelfile_read(&file, jl_catalog_embedded(), with_index ? index : folder, &arena, &err) != JL_OK)
			fail_msg("%s", err.en);
		assert_true(file.config.model.n_layers == 2 && file.config.model.heads == 16 &&
			    file.config.model.ffn == 8192);
		assert_true(file.n_params == 2048.0 * (1000 + 2048 + 512 + 8192) &&
			    file.weights_B == 2 * file.n_params);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		write_file(index, bad[i].index, strlen(bad[i].index));
		err = (struct jl_err){ 0 };
		assert_true(jl_modelfile_read(&file, jl_catalog_embedded(), folder, &arena, &err) != JL_OK);
		if (!strstr(err.en, bad[i].says) || strchr(err.en, '\n'))
			fail_msg("'%s' where '%s' was meant", err.en, bad[i].says);
	}
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/m-%d.safetensors", folder, i + 1);
		(void)unlink(path);
	}
	(void)unlink(index);
	assert_true(jl_modelfile_read(&file, jl_catalog_embedded(), folder, &arena, &err) != JL_OK);
	assert_non_null(strstr(err.en, "*.safetensors"));
	(void)rmdir(folder);
}

/* diffusers pipelines: all parts, one of them trained. */
static void test_pipelines(void **state)
{
	static const struct {
		const char *folder, *parts;
		double trained, frozen;
	} pipelines[] = {
		{ "sd", "unet 860M, text_encoder 123M, vae 83.7M", 859520964, 123060480 + 83653863 },
		{ "flux/model_index.json", "transformer 11.9B, text_encoder 123M, text_encoder_2 4.76B, vae 83.8M",
		  11901408320, 123060480 + 4762310656.0 + 83819683 },
	};
	struct jl_modelfile file;
	struct jl_err err = { 0 };
	char path[512];

	(void)state;
	for (size_t i = 0; i < sizeof(pipelines) / sizeof(*pipelines); i++) {
		snprintf(path, sizeof(path), JL_SOURCE_DIR "/tests/fixtures/pipelines/%s", pipelines[i].folder);
		if (jl_modelfile_read(&file, jl_catalog_embedded(), path, &arena, &err) != JL_OK)
			fail_msg("%s", err.en);
		assert_true(file.is_network);
		assert_string_equal(file.parts, pipelines[i].parts);
		assert_true(file.net.n_still == pipelines[i].frozen);
		assert_true(file.net.n_params == pipelines[i].trained + pipelines[i].frozen);
	}
	snprintf(path, sizeof(path), JL_SOURCE_DIR "/tests/fixtures/pipelines/sd/unet/config.json");
	assert_int_equal(jl_modelfile_read(&file, jl_catalog_embedded(), path, &arena, &err), JL_OK);
	assert_true(file.net.n_params == 859520964 && file.net.n_still == 0 && !file.parts);
}

static enum jl_status read_offered(const char *index, const char *unet, struct jl_err *err)
{
	const struct jl_offered files[] = { { "model_index.json", index, strlen(index) },
					    { "unet/config.json", unet, strlen(unet) },
					    { NULL, NULL, 0 } };
	const struct jl_offered *before = jl_offer(files);
	struct jl_modelfile file;
	const enum jl_status status = jl_modelfile_read(&file, jl_catalog_embedded(), "model_index.json", &arena, err);

	jl_offer(before);
	return status;
}

static void test_hostile_pipelines(void **state)
{
	static const char index[] = "{\"unet\":[\"diffusers\",\"UNet2DConditionModel\"]}",
			  unet[] = "{\"_class_name\":\"UNet2DConditionModel\"}";
	static const struct {
		const char *index, *unet, *says;
	} bad[] = {
		{ "", unet, "unet" },
		{ "[1]", unet, "unet" },
		{ "{\"unet\":null}", unet, "unet" },
		{ index, "{\"_class_name\":\"NoSuchModel\"}", "'NoSuchModel' is not supported" },
		{ index, "{\"_class_name\":\"a\\nb c\"}", "'?' is not supported" },
		{ index, "{\"model_type\":\"no_such_type\"}", "'no_such_type' is not supported" },
		{ index, "{\"_class_name\":\"UNet2DConditionModel\",\"block_out_channels\":[1e30,-5]}",
		  "impossible sizes" },
		{ index, "{\"_class_name\":\"UNet2DConditionModel\",\"layers_per_block\":1e9}", "write: for" },
		{ index, "{\"_class_name\":\"UNet2DConditionModel\",\"layers_per_block\":190000}", "come to an end" },
		{ "{\"transformer\":[\"a\",\"b\"]}", unet, "transformer/config.json" },
	};
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(read_offered(index, unet, &err), JL_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct jl_err){ 0 };
		assert_true(read_offered(bad[i].index, bad[i].unet, &err) != JL_OK);
		if (!strstr(err.en, bad[i].says) || strchr(err.en, '\n') || strchr(err.text, '\n'))
			fail_msg("'%s' where '%s' was meant", err.en, bad[i].says);
	}
	/* a request reads its own files, and none of the machine */
	const struct jl_offered none[] = { { NULL, NULL, 0 } };
	const struct jl_offered *before = jl_offer(none);
	struct jl_modelfile file;

	assert_true(jl_modelfile_read(&file, jl_catalog_embedded(), JL_SOURCE_DIR "/tests/fixtures/onnx/resnet50.onnx",
				      &arena, &err) != JL_OK);
	assert_true(jl_modelfile_read(&file, jl_catalog_embedded(), JL_SOURCE_DIR "/tests/fixtures/pipelines/sd",
				      &arena, &err) != JL_OK);
	jl_offer(before);
}

static void test_torch_graph(void **state)
{
	static const char text[] =
		"{\"graph_module\":{\"graph\":{\"nodes\":["
		"{\"target\":\"torch.ops.aten.conv2d.default\",\"inputs\":[{\"name\":\"input\",\"arg\":{\"as_tensor\":{"
		"\"name\":\"x\"}}},"
		"{\"name\":\"weight\",\"arg\":{\"as_tensor\":{\"name\":\"w\"}}}],\"outputs\":[{\"as_tensor\":{\"name\":"
		"\"y\"}}]},"
		"{\"target\":\"torch.ops.aten.relu.default\",\"inputs\":[{\"name\":\"self\",\"arg\":{\"as_tensor\":{"
		"\"name\":\"y\"}}}],"
		"\"outputs\":[{\"as_tensor\":{\"name\":\"z\"}}]}],"
		"\"tensor_values\":{\"x\":{\"sizes\":[{\"as_int\":2},{\"as_int\":3},{\"as_int\":8},{\"as_int\":8}]},"
		"\"w\":{\"sizes\":[{\"as_int\":16},{\"as_int\":3},{\"as_int\":3},{\"as_int\":3}]},"
		"\"y\":{\"sizes\":[{\"as_int\":2},{\"as_int\":16},{\"as_int\":8},{\"as_int\":8}]},"
		"\"z\":{\"sizes\":[{\"as_int\":2},{\"as_int\":16},{\"as_int\":8},{\"as_int\":8}]}}},"
		"\"signature\":{\"input_specs\":[{\"parameter\":{\"arg\":{\"name\":\"w\"},\"parameter_name\":\"w\"}},"
		"{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"x\"}}}}]}}}";
	struct jl_network net;
	struct jl_err err = { 0 };

	(void)state;
	if (jl_torchgraph_parse(&net, text, strlen(text), "model.json", &arena, &err) != JL_OK)
		fail_msg("%s", err.en);
	assert_true(net.n_ops == 2 && net.n_params == 432 && products(&net) == 64.0 * 16 * 27);
	for (size_t len = 0; len < strlen(text); len++)
		assert_true(jl_torchgraph_parse(&net, text, len, "model.json", &arena, &err) != JL_OK);
}

/* A nested protocol buffer field. */
static void put_field(struct bytes *to, unsigned number, const void *data, size_t len)
{
	const unsigned char head[] = { (unsigned char)(number << 3 | 2), (unsigned char)len };

	put(to, head, 2);
	put(to, data, len);
}

/* y = x W with W of 4 x 4 and an input of these sizes; 0: a symbol, -1: the number 0. */
static enum jl_status product_of(struct jl_network *ret_net, const int dims[3], struct jl_err *err)
{
	static const unsigned char weight[] = { 8, 4, 8, 4, 16, 1, 0x42, 1, 'w' };
	static const unsigned char node[] = { 10, 1, 'x', 10, 1, 'w', 18, 1, 'y', 34, 6, 'M', 'a', 't', 'M', 'u', 'l' };
	static struct bytes shape, tensor, type, input, graph, file;

	shape.len = tensor.len = type.len = input.len = graph.len = file.len = 0;
	for (int d = 0; d < 3; d++) {
		const unsigned char size[] = { 8, (unsigned char)(dims[d] > 0 ? dims[d] : 0) };

		put_field(&shape, 1, dims[d] ? (const void *)size : "\x12\x01s", dims[d] ? 2 : 3);
	}
	put_field(&tensor, 2, shape.data, shape.len);
	put_field(&type, 1, tensor.data, tensor.len);
	put_field(&input, 1, "x", 1);
	put_field(&input, 2, type.data, type.len);
	put_field(&graph, 1, node, sizeof(node));
	put_field(&graph, 5, weight, sizeof(weight));
	put_field(&graph, 11, input.data, input.len);
	put_field(&file, 7, graph.data, graph.len);
	return jl_onnx_parse(ret_net, (const unsigned char *)file.data, file.len, "a.onnx", &arena, err);
}

/* Only the batch may be symbolic; the file's own batch is known, and a sample is one item of it. */
static void test_open_dimensions(void **state)
{
	struct jl_network net;
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(product_of(&net, (const int[]){ 8, 5, 4 }, &err), JL_OK);
	assert_true(net.batch == 8 && products(&net) == 5 * 4 * 4);
	assert_int_equal(product_of(&net, (const int[]){ 0, 5, 4 }, &err), JL_OK);
	assert_true(net.batch == 1 && products(&net) == 5 * 4 * 4);
	assert_int_equal(product_of(&net, (const int[]){ 8, 0, 4 }, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "dimension 2 of its input 'x' is left open"));
	assert_int_equal(product_of(&net, (const int[]){ 8, -1, 4 }, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "dimension 2 of its input 'x' is 0"));
}

static void refused(const char *what, const void *data, size_t len)
{
	struct jl_network net;
	struct jl_modelfile file;
	struct jl_err err = { 0 };
	enum jl_status status = strcmp(what, "onnx") == 0   ? jl_onnx_parse(&net, data, len, "a.onnx", &arena, &err)
				: strcmp(what, "gguf") == 0 ? jl_gguf_parse(&file, data, len, "a.gguf", &arena, &err)
							    : jl_safetensors_parse(&file, data, len, "a", &arena, &err);

	if (status == JL_OK || !err.en[0] || strchr(err.en, '\n') || strchr(err.text, '\n'))
		fail_msg("%s: taken, or not one line: '%s'", what, err.en);
}

static void test_hostile_files(void **state)
{
	/* a graph of length 2^63; a node that uses its own output; too many nodes; a name of 1 MB */
	static const unsigned char long_graph[] = { 0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1 };
	static const unsigned char cycle[] = { 0x3a, 13, 0x0a, 11, 0x0a, 1, 'a', 0x12, 1, 'a', 0x22, 3, 'A', 'd', 'd' };
	static unsigned char many[2 * 200000 + 5], name[(1 << 20) + 16];
	struct bytes b = { .len = 0 };

	(void)state;
	refused("onnx", long_graph, sizeof(long_graph));
	refused("onnx", cycle, sizeof(cycle));
	refused("onnx", "", 0);
	many[0] = 0x3a; /* 400,000 bytes of empty nodes */
	many[1] = 0x80;
	many[2] = 0xb5;
	many[3] = 0x18;
	for (size_t i = 0; i < 200000; i++)
		many[4 + 2 * i] = 0x0a;
	refused("onnx", many, 4 + 400000);
	memset(name, 'x', sizeof(name));
	memcpy(name, (const unsigned char[]){ 0x3a, 0x88, 0x80, 0x40, 0x0a, 0x84, 0x80, 0x40, 0x0a, 0x80, 0x80, 0x40 },
	       12);
	refused("onnx", name, 12 + (1 << 20));
	put(&b, "GGUF", 4);
	put_number(&b, 3, 4);
	put_number(&b, UINT64_MAX / 2 + 1, 8); /* 2^63 tensors */
	put_number(&b, 1, 8);
	refused("gguf", b.data, b.len);
	b.len = 8;
	put_number(&b, 0, 8);
	put_number(&b, 1, 8);
	put_number(&b, UINT64_MAX / 2 + 1, 8); /* a text of 2^63 bytes */
	refused("gguf", b.data, b.len);
	b.len = 24;
	put_text(&b, "a");
	put_number(&b, 9, 4);
	put_number(&b, 9, 4); /* nested lists */
	put_number(&b, 1000000000, 8);
	refused("gguf", b.data, b.len);
	b.len = 0;
	put_number(&b, UINT64_MAX / 2 + 1, 8);
	put(&b, "{}{}", 4);
	refused("safetensors", b.data, b.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_torch_exports, begin, end),
		cmocka_unit_test_setup_teardown(test_configurations_of_other_networks, begin, end),
		cmocka_unit_test_setup_teardown(test_gguf, begin, end),
		cmocka_unit_test_setup_teardown(test_safetensors, begin, end),
		cmocka_unit_test_setup_teardown(test_shards, begin, end),
		cmocka_unit_test_setup_teardown(test_pipelines, begin, end),
		cmocka_unit_test_setup_teardown(test_hostile_pipelines, begin, end),
		cmocka_unit_test_setup_teardown(test_torch_graph, begin, end),
		cmocka_unit_test_setup_teardown(test_hostile_files, begin, end),
		cmocka_unit_test_setup_teardown(test_open_dimensions, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
