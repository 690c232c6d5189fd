/* Model files as input: an ONNX graph, a torch.export graph as JSON, headers of GGUF and safetensors files (single, or sharded with an index), a
 * config.json, a diffusers model_index.json, or a folder with one of them. Bounded; weights are never read. */
#pragma once

#include "base/arena.h"
#include "catalog/catalog.h"
#include "program/network.h"
#include "program/transformer.h"

/* A transformer from the config.json of a Hugging Face model. */
#define JL_HFCONFIG_MAX_B ((size_t)8 << 20) /* real files have a few kB */

struct jl_hfconfig {
	struct jl_transformer model;
	const char *type; /* the file's model_type */
	double seq;       /* longest sequence stated; NAN: not stated */
};

/* Parses `text` of `len` bytes; `file` is its name in messages. */
enum jl_status jl_hfconfig_parse(struct jl_hfconfig *ret_config, const char *text, size_t len, const char *file,
				 struct jl_arena *arena, struct jl_err *err);

struct jl_modelfile {
	bool is_network;
	const struct jl_net_info *info; /* catalog record whose text generated the network; NULL: none */
	struct jl_network net;          /* a network as a list of operators, or */
	struct jl_hfconfig config;      /* a transformer */
	double n_params, weights_B;     /* values in the file; NAN: not in the file */
	const char *parts;              /* parts of a pipeline, in words; NULL: not a pipeline */
};

/* True if the text looks like a model file's path rather than a model's name. */
bool jl_modelfile_is_path(const char *text);

enum jl_status jl_modelfile_read(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *path,
				 struct jl_arena *arena, struct jl_err *err);

/* A mapped file, up to the part that is read; in a request, a file sent with it. */
struct jl_filemap {
	const unsigned char *data;
	size_t len;
	bool mapped;
};
enum jl_status jl_filemap_open(struct jl_filemap *ret_map, const char *path, struct jl_err *err);
void jl_filemap_close(struct jl_filemap *map);

/* Readers of single formats: `data` of `len` bytes; `file` is the name in messages. */
enum jl_status jl_gguf_parse(struct jl_modelfile *ret, const unsigned char *data, size_t len, const char *file,
			     struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_safetensors_parse(struct jl_modelfile *ret, const unsigned char *data, size_t len, const char *file,
				    struct jl_arena *arena, struct jl_err *err);
/* model.safetensors.index.json: reads the headers of the files it names, from the same folder. */
enum jl_status jl_safetensors_index_parse(struct jl_modelfile *ret, const char *text, size_t len, const char *file,
					  struct jl_arena *arena, struct jl_err *err);
/* Reads all *.safetensors of a folder; JL_E_NOTFOUND without a message: there are none. */
enum jl_status jl_safetensors_folder(struct jl_modelfile *ret, const char *folder, struct jl_arena *arena,
				     struct jl_err *err);
enum jl_status jl_torchgraph_parse(struct jl_network *ret_net, const char *text, size_t len, const char *file,
				   struct jl_arena *arena, struct jl_err *err);

/* Reads an ONNX graph as a list of operators: infers shapes from the inputs and uses only the sizes of weights. Bounded; the file is untrusted.
 * Unspecified dimensions count as 1: one sample. */
enum jl_status jl_onnx_parse(struct jl_network *ret_net, const unsigned char *data, size_t len, const char *file,
			     struct jl_arena *arena, struct jl_err *err);
