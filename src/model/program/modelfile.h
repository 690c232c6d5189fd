/* What is to be run, from the files that people have: an ONNX graph, a graph of torch.export as JSON, the headers of GGUF and
 * safetensors files (one, or many with their index), a config.json, the model_index.json of a diffusers pipeline, or a folder with one of
 * them. Bounded; weights are never read. */
#pragma once

#include "base/arena.h"
#include "catalog/catalog.h"
#include "program/network.h"
#include "program/transformer.h"

/* A transformer from the config.json that Hugging Face models carry. */
#define JL_HFCONFIG_MAX_B ((size_t)8 << 20) /* real ones have a few kB */

struct jl_hfconfig {
	struct jl_transformer model;
	const char *type; /* its model_type */
	double seq;       /* the longest sequence it states; NAN: none */
};

/* `text` of `len` bytes, called `file` in messages. */
enum jl_status jl_hfconfig_parse(struct jl_hfconfig *ret_config, const char *text, size_t len, const char *file,
				 struct jl_arena *arena, struct jl_err *err);

struct jl_modelfile {
	bool is_network;
	const struct jl_net_info *info; /* of the catalog whose text made it; NULL: none */
	struct jl_network net;          /* a list of operators; or */
	struct jl_hfconfig config;      /* a transformer */
	double n_params, weights_B;     /* as the file holds them; NAN: it holds none */
	const char *parts;              /* of a pipeline, in words; NULL: it is none */
};

/* Does it look like a file of a model, and not like a name? */
bool jl_modelfile_is_path(const char *text);

enum jl_status jl_modelfile_read(struct jl_modelfile *ret, const struct jl_catalog *cat, const char *path,
				 struct jl_arena *arena, struct jl_err *err);

/* A file in memory, as far as it is looked at; inside a request one that it brought. */
struct jl_filemap {
	const unsigned char *data;
	size_t len;
	bool mapped;
};
enum jl_status jl_filemap_open(struct jl_filemap *ret_map, const char *path, struct jl_err *err);
void jl_filemap_close(struct jl_filemap *map);

/* The readers by themselves: `data` of `len` bytes, called `file` in messages. */
enum jl_status jl_gguf_parse(struct jl_modelfile *ret, const unsigned char *data, size_t len, const char *file,
			     struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_safetensors_parse(struct jl_modelfile *ret, const unsigned char *data, size_t len, const char *file,
				    struct jl_arena *arena, struct jl_err *err);
/* model.safetensors.index.json: the headers of the files that it names, which lie beside it. */
enum jl_status jl_safetensors_index_parse(struct jl_modelfile *ret, const char *text, size_t len, const char *file,
					  struct jl_arena *arena, struct jl_err *err);
/* All *.safetensors of a folder; JL_E_NOTFOUND without a message: there are none. */
enum jl_status jl_safetensors_folder(struct jl_modelfile *ret, const char *folder, struct jl_arena *arena,
				     struct jl_err *err);
enum jl_status jl_torchgraph_parse(struct jl_network *ret_net, const char *text, size_t len, const char *file,
				   struct jl_arena *arena, struct jl_err *err);

/* An ONNX graph as a list of operators: shapes are followed from the inputs, weights are looked at only for their sizes. Bounded;
 * nothing of the file is trusted. */
/* `data` of `len` bytes, called `file` in messages. Sizes that the file leaves open are 1: one sample. */
enum jl_status jl_onnx_parse(struct jl_network *ret_net, const unsigned char *data, size_t len, const char *file,
			     struct jl_arena *arena, struct jl_err *err);
