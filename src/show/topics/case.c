/* How a run is set up, in a line. */
#include "topics/predict.h"

#include "predict/kind.h"
#include "program/tune.h"

const char *jl_show_device(const struct jl_case *c)
{
	return c->machine.sys.gpu ? "GPU" : "CPU";
}

const char *jl_show_card(const struct jl_case *c)
{
	return c->machine.sys.gpu ? c->machine.sys.gpu->id : "CPU";
}

const char *jl_show_framework(const struct jl_case *c)
{
	const enum jl_framework framework = c->framework;
	const struct jl_gpu *gpu = c->machine.sys.gpu;
	static const char *const names[JL_N_FRAMEWORK] = {
		[JL_FW_EAGER] = "PyTorch eager",    [JL_FW_COMPILED] = "PyTorch compiled",
		[JL_FW_MEGATRON] = "Megatron-LM",   [JL_FW_NATIVE] = "native",
		[JL_FW_APEX] = "PyTorch with apex", [JL_FW_GENERAL] = "general",
		[JL_FW_FUSED] = "Unsloth"
	};

	if (framework == JL_FW_COMPILED && gpu && jl_same_text(gpu->vendor, "Google"))
		return "XLA";
	return names[framework];
}

static void cut_pieces(struct jl_doc *doc, const struct jl_plan *p)
{
	if (p->zero >= 1 && p->shard > 0)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s %.0f×%.0f", p->zero == 3 ? "HSDP" : "ZeRO-2", p->dp / p->shard,
			      p->shard);
	else if (p->zero == 1 || p->zero == 2)
		jl_show_piece(doc, JL_ORIGIN_NONE, "ZeRO-%d %.0f", p->zero, p->dp);
	else if (p->dp > 1)
		jl_show_piece(doc, JL_ORIGIN_NONE, p->zero == 3 ? "FSDP %.0f" : "DDP %.0f", p->dp);
	jl_show_cut_pieces(doc, p);
	if (p->recompute != JL_RECOMPUTE_NONE)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_show_recompute(p));
	if (p->offload)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", JL_("offload"));
}

/* "QLoRA rank 16 (nf4)", "DPO". */
static void tune_pieces(struct jl_doc *doc, const struct jl_case *c)
{
	static const char *const names[JL_N_TUNE] = { [JL_TUNE_LORA] = "LoRA", [JL_TUNE_DORA] = "DoRA" };
	static const char *const methods[JL_N_METHOD] = { NULL, "DPO", "ORPO", "GRPO" };
	const struct jl_tune *t = &c->shard.tune;

	if (!c->tuned)
		return;
	if (t->kind == JL_TUNE_FULL)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", JL_("full tuning"));
	else if (t->kind == JL_TUNE_LAYERS)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("the last %.0f layers"), t->n_layers);
	else if (t->kind == JL_TUNE_ADAPTER)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("adapters %.0f wide"), t->rank);
	else
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%s%s rank %.0f (base %s)"), t->base == JL_BASE_SAME ? "" : "Q",
			      names[t->kind], t->rank, jl_base_name(t->base));
	if (methods[c->method])
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", methods[c->method]);
}

void jl_show_case(struct jl_doc *doc, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;

	JL_LEAD(doc, c->subject.name);
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", c->machine.sys.text);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("batch %s per %s"),
		      jl_count_text(JL_TXT, c->shard.micro_batch * p->n_micro),
		      p->tp * p->pp * p->cp > 1 ? JL_("worker") : jl_show_device(c));
	if (p->n_micro > 1)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("micro-batch %s"), jl_count_text(JL_TXT, c->shard.micro_batch));
	if (p->dp > 1)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("global %s"), jl_count_text(JL_TXT, c->global_batch));
	if (c->subject.kind->has_tokens)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("sequence %s"), jl_count_text(JL_TXT, c->shard.seq));
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_dtype_name(c->shard.dtype));
	tune_pieces(doc, c);
	cut_pieces(doc, p);
	if (c->subject.program && c->subject.program->listed)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", JL_("code: Hugging Face transformers, eager"));
	else if (c->subject.program) /* captured code */
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%s code, captured"), c->subject.program->codes);
	else
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_show_framework(c));
}
