/* Finds the workload of a request. */
#include "predict/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/names.h"
#include "predict/kind.h"
#include "predict/program_case.h"
#include "program/modelfile.h"

const char *jl_params_text(char out[JL_PARAMS_TEXT_MAX], double params)
{
	static const struct {
		double size;
		const char *name;
	} units[] = { { 1e12, "T" }, { 1e9, "B" }, { 1e6, "M" } };
	const size_t last = JL_LEN(units) - 1;
	size_t i = 0;

	while (i < last && params < 0.9995 * units[i].size)
		i++;
	snprintf(out, JL_PARAMS_TEXT_MAX, params < 9.995e14 ? "%.3g%s" : "%.0f%s", params / units[i].size,
		 units[i].name);
	return out;
}

/* File name extension of captured programs. */
static bool is_program(const char *path)
{
	return jl_ends(path, ".jprog");
}

static enum jl_status from_program(struct jl_subject *subject, const char *path, struct jl_arena *arena,
				   struct jl_err *err)
{
	struct jl_captured *captured;
	char text[JL_PARAMS_TEXT_MAX];

	JL_TRY(jl_fail_in_file(err, jl_captured_read(&captured, path, arena, err)));
	subject->kind = &jl_kind_program;
	subject->program = captured;
	subject->id = jl_arena_strdup(arena, path);
	subject->name = jl_arena_printf(arena, "%s %s", captured->p.title, jl_params_text(text, captured->p.n_params));
	return jl_got(subject->id && subject->name, err);
}

static enum jl_status from_file(struct jl_subject *subject, const struct jl_catalog *cat, const char *path,
				struct jl_arena *arena, struct jl_err *err)
{
	struct jl_modelfile file;

	if (is_program(path))
		return from_program(subject, path, arena, err);
	enum jl_status status = jl_modelfile_read(&file, cat, path, arena, err);
	char text[JL_PARAMS_TEXT_MAX];
	const char *weights = "";

	if (status)
		return jl_fail_in_file(err, status);
	subject->id = jl_arena_strdup(arena, path);
	if (file.is_network) {
		struct jl_convnet *net = jl_arena_alloc(arena, sizeof(*net));

		if (!net || !subject->id)
			return jl_fail_nomem(err);
		jl_convnet_of_file(net, &file.net, file.info, subject->id);
		subject->kind = &jl_kind_network;
		subject->net = net;
		subject->name = jl_arena_printf(arena, "%s %s%s%s%s", file.info ? file.info->name : subject->id,
						jl_params_text(text, net->n_params), file.parts ? " (" : "",
						file.parts ? file.parts : "", file.parts ? ")" : "");
		return subject->name ? JL_OK : jl_fail_nomem(err);
	}
	subject->model = file.config.model;
	subject->seq = file.config.seq;
	subject->type = file.config.type;
	subject->from_hub = true;
	if (file.n_params > 0 && isfinite(file.weights_B))
		weights = jl_arena_printf(arena, JL_(", %.2g bits a weight in the file"),
					  8 * file.weights_B / file.n_params);
	subject->name = jl_arena_printf(arena, "%s %s%s", file.config.type,
					jl_params_text(text, jl_transformer_params(&file.config.model).total),
					weights ? weights : "");
	return subject->id && subject->name ? JL_OK : jl_fail_nomem(err);
}

double jl_subject_context(const struct jl_subject *subject)
{
	const struct jl_model_info *info = subject->info;

	return !info ? subject->seq : info->context > 0 ? info->context : info->positions > 0 ? info->positions : NAN;
}

double jl_subject_params(const struct jl_subject *subject)
{
	return subject->kind->params(subject);
}

/* A decoder with learned positions like GPT-2, or, with grouped key heads, like Llama. */
static enum jl_status from_shape(struct jl_subject *subject, const struct jl_shape *s, double seq,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_transformer *m = &subject->model;
	const bool llama = !isnan(s->kv_heads);
	char text[JL_PARAMS_TEXT_MAX];

	if (isnan(s->layers) || isnan(s->hidden) || isnan(s->heads))
		return jl_fail(err, JL_E_USAGE,
			       "name a model, give a config.json, or give at least --layers, --hidden and --heads");
	if (fmod(s->hidden, s->heads) != 0)
		return jl_fail(err, JL_E_USAGE,
			       "--hidden %.0f does not divide by --heads %.0f; take a multiple of the heads", s->hidden,
			       s->heads);
	*m = (struct jl_transformer){
		.n_layers = s->layers,
		.hidden = s->hidden,
		.heads = s->heads,
		.kv_heads = jl_given_or(s->kv_heads, s->heads),
		.head_dim = s->hidden / s->heads,
		.ffn = jl_given_or(s->ffn, llama ? ceil(s->hidden * 8 / 3 / 256) * 256 : 4 * s->hidden),
		.vocab = jl_given_or(s->vocab, 50257),
		.n_positions = llama ? 0 : jl_given_or(seq, 2048),
		.gated = llama,
		.bias = !llama,
		.tied = !llama,
		.final_norm = 1,
		.causal = 1,
		.norm = llama ? JL_NORM_RMS : JL_NORM_LAYER,
		.head_tokens_frac = 1,
	};
	subject->id = "model";
	subject->shape_assumed = isnan(s->kv_heads) || isnan(s->ffn) || isnan(s->vocab);
	JL_TRY(jl_transformer_check(m, err));
	subject->name = jl_arena_printf(arena, "%.0f x %.0f, %s", s->layers, s->hidden,
					jl_params_text(text, jl_transformer_params(m).total));
	return subject->name ? JL_OK : jl_fail_nomem(err);
}

/* Assumes images of the usual size, as tables of such figures do. */
static enum jl_status from_figures(struct jl_subject *subject, const struct jl_catalog *cat, const struct jl_figures *f,
				   struct jl_arena *arena, struct jl_err *err)
{
	struct jl_convnet *net = jl_arena_alloc(arena, sizeof(*net));
	const struct jl_convnet_figures figures = { .name = "network",
						    .kind = f->kind ? f->kind : "conv",
						    .mac = f->gmac * 1e9,
						    .n_outputs = f->mact * 1e6,
						    .n_params = f->params_m * 1e6,
						    .image = NAN };
	JL_TRY(net ? jl_convnet_described(net, cat, &figures, arena, err) : jl_fail_nomem(err));
	subject->kind = &jl_kind_network;
	subject->net = net;
	subject->id = net->id;
	subject->name = net->name;
	return JL_OK;
}

/* Kinds of workloads in lookup order. */
static const struct jl_workload_kind *const kinds[] = { &jl_kind_transformer, &jl_kind_network };

/* For unknown names reports the first kind's error. */
static enum jl_status from_name(struct jl_subject *subject, const struct jl_catalog *cat, const char *name,
				struct jl_arena *arena, struct jl_err *err)
{
	enum jl_status first = JL_OK;

	for (size_t i = 0; i < JL_LEN(kinds); i++) {
		enum jl_status status = kinds[i]->find(subject, cat, name, arena, err);

		subject->kind = kinds[i];
		if (status != JL_E_NOTFOUND && status != JL_E_AMBIGUOUS)
			return status;
		first = first ? first : status;
	}
	return first;
}

/* If a file like "Meta-Llama-3-8B-Instruct-Q4_K_M.gguf" does not exist, its name may contain the model. */
static enum jl_status from_file_or_name(struct jl_subject *subject, const struct jl_catalog *cat, const char *text,
					struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_subject empty = *subject;
	const enum jl_status status = from_file(subject, cat, text, arena, err);
	struct jl_err ignored = { 0 };

	if (status != JL_E_IO || strchr(text, '/') || text[0] == '.' || !jl_name_weights(cat, text))
		return status;
	*subject = empty;
	if (from_name(subject, cat, text, arena, &ignored))
		return status;
	jl_reading_add(cat, text, subject->id, "");
	return JL_OK;
}

enum jl_status jl_subject_check_tokens(const struct jl_subject *subject, bool adapters, struct jl_err *err)
{
	if (subject->kind->has_tokens)
		return JL_OK;
	if (adapters)
		return jl_fail(err, JL_E_USAGE,
			       "LoRA adapters of %s are not supported, only those of language models; leave the option "
			       "out to train the whole model",
			       subject->id);
	return jl_fail(
		err, JL_E_USAGE,
		"%s generates no tokens, so its serving load cannot be predicted; for one forward pass (a diffusion "
		"model takes one per denoising step) run 'jeoul predict %s --forward --on SYSTEM --batch N'",
		subject->id, subject->id);
}

enum jl_status jl_subject_find(struct jl_subject *ret_subject, const struct jl_catalog *cat,
			       const struct jl_request *req, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_subject subject = { .kind = &jl_kind_transformer, .seq = NAN, .arena = arena };
	enum jl_status status = !req->model && !isnan(req->figures.gmac)
					? from_figures(&subject, cat, &req->figures, arena, err)
				: !req->model ? from_shape(&subject, &req->shape, req->seq, arena, err)
				: jl_modelfile_is_path(req->model)
					? from_file_or_name(&subject, cat, req->model, arena, err)
					: from_name(&subject, cat, req->model, arena, err);

	subject.from_hub |= req->model && subject.info && strchr(req->model, '/');
	if (!status)
		*ret_subject = subject;
	return status;
}
