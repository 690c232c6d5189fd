/* Lists the operators of Hugging Face transformers code for a case. */
#include "predict/choose.h"

#include <math.h>
#include <string.h>

#include "predict/kind.h"
#include "predict/program_case.h"
#include "program/hf.h"
#include "program/tune.h"

/* Names in transformers where they differ from the catalog's families. */
static const char *type_of(const struct jl_subject *subject)
{
	static const char *const names[][2] = { { "neox", "gpt_neox" }, { "gemma3", "gemma3_text" } };
	const struct jl_model_info *info = subject->info;

	if (subject->type)
		return subject->type;
	if (!info)
		return subject->model.gated ? "llama" : "gpt2";
	if (info->moe.n_experts > 0)
		return strcmp(info->family, "qwen3") == 0 ? "qwen3_moe" : "mixtral";
	for (size_t i = 0; i < JL_LEN(names); i++)
		if (strcmp(names[i][0], info->family) == 0)
			return names[i][1];
	return info->family;
}

bool jl_hub_meant(const struct jl_subject *subject, const struct jl_machine *machine, const struct jl_request *req)
{
	const struct jl_ask_plan *p = &req->plan;
	const bool open = isnan(p->tp) && isnan(p->pp) && isnan(p->cp) && isnan(p->ep) && p->zero == JL_UNSET;

	if (!subject->kind->has_tokens || !subject->arena)
		return false;
	if (req->framework == JL_FW_HUB)
		return true;
	return req->framework == JL_UNSET && subject->from_hub && !req->unsaid && !req->own_kernels &&
	       req->tune == JL_UNSET && open && machine->sys.gpu && jl_sys_n_devices(&machine->sys) == 1 &&
	       jl_hf_known(type_of(subject));
}

enum jl_status jl_hub_can(const struct jl_case *c, const struct jl_request *req, struct jl_err *err)
{
	const struct jl_plan *p = &c->plan;
	const struct jl_tune *t = &c->shard.tune;
	const struct {
		bool is;
		const char *what;
	} others[] = { { p->tp > 1 || p->pp > 1 || p->cp > 1 || p->ep > 1, "--parallel tp=, pp=, cp=, ep=" },
		       { p->zero > 0, "--parallel zero=" },
		       { jl_case_offload(c) != 0, "--offload" },
		       { c->tuned && (c->method != 0 || t->ends || t->base != JL_BASE_SAME ||
				      (t->kind != JL_TUNE_FULL && t->kind != JL_TUNE_LORA)),
			 "--method, --base, --tune but full and lora" },
		       { c->tuned && t->kind == JL_TUNE_LORA && c->subject.model.moe.n_experts > 0,
			 "--tune lora of experts" },
		       { req->optimizer > JL_OPT_FUSED, "--optimizer but foreach and fused" },
		       { p->recompute == JL_RECOMPUTE_SELECTIVE, "--recompute selective" },
		       { jl_dtype_B(c->shard.dtype) < 2, "--precision fp8" },
		       { c->subject.model.mla.kv_lora > 0 || c->subject.model.moe.n_shared > 0,
			 "latent attention and shared experts" } };

	for (size_t i = 0; i < JL_LEN(others); i++)
		if (others[i].is)
			return jl_fail(
				err, JL_E_ABSENT,
				"--framework transformers lists one GPU's whole layers: %s is not among it; take "
				"--framework eager",
				others[i].what);
	if (!jl_hf_known(type_of(&c->subject)))
		return jl_fail(err, JL_E_USAGE,
			       "--framework transformers: the code for models of type '%.60s' is not known; capture it "
			       "(python -m jeoul capture), or take --framework eager",
			       type_of(&c->subject));
	return JL_OK;
}

static struct jl_hf_run run_of(const struct jl_case *c, const struct jl_request *req, const char *title)
{
	const struct jl_tune *t = &c->shard.tune;
	const bool lora = c->tuned && t->kind == JL_TUNE_LORA;
	const bool half = jl_dtype_B(c->shard.dtype) < 4, checkpoint = c->plan.recompute == JL_RECOMPUTE_FULL;

	return (struct jl_hf_run){ .type = type_of(&c->subject),
				   .title = title,
				   .batch = c->shard.micro_batch,
				   .seq = c->shard.seq,
				   .accumulate = c->plan.n_micro,
				   .dtype = c->shard.dtype,
				   .autocast = half && c->states != 1,
				   .checkpoint = checkpoint,
				   .eager_attention = req->flash == 0,
				   .fused = req->optimizer == JL_OPT_FUSED,
				   .cache = !checkpoint,
				   .lora_rank = lora ? t->rank : 0,
				   .lora_targets = t->targets,
				   .lora_dropout = t->dropout };
}

/* Clears the options that the list of operators already contains. */
static struct jl_request left_of(const struct jl_request *req)
{
	struct jl_request left = *req;
	const struct jl_request empty = jl_request_empty();

	left.batch = left.micro_batch = left.global_batch = left.accumulate = left.seq = NAN;
	left.mean_seq = left.expert_load = NAN;
	left.plan = empty.plan;
	left.dtype = req->dtype == JL_TF32 ? JL_TF32 : empty.dtype;
	left.framework = empty.framework;
	left.recompute = empty.recompute;
	left.flash = empty.flash;
	left.states = empty.states;
	left.offload = empty.offload;
	left.optimizer = empty.optimizer;
	left.tune = empty.tune;
	return left;
}

enum jl_status jl_hub_list(struct jl_subject *subject, struct jl_request *req, const struct jl_case *c,
			   struct jl_err *err)
{
	const char *name = jl_arena_printf(subject->arena, "%s, sequence %.0f", subject->name, c->shard.seq);
	const struct jl_hf_run run = run_of(c, req, subject->id);
	struct jl_captured *captured = NULL;
	struct jl_buf text;
	enum jl_status status;

	JL_TRY(jl_got(name, err));
	jl_buf_init(&text, JL_PROGRAM_MAX_B);
	status = jl_hf_program(&text, &c->subject.model, &run, err);
	if (!status)
		status = jl_captured_parse(&captured, jl_buf_text(&text), text.len, subject->id, subject->arena, err);
	jl_buf_release(&text);
	JL_TRY(status);
	captured->listed = true;
	subject->kind = &jl_kind_program;
	subject->program = captured;
	subject->name = name;
	*req = left_of(req);
	return JL_OK;
}
