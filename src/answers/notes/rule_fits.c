/* Finds what does not fit into memory: a model on named cards, or more bytes into fewer. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "notes/inside.h"

#define FIGURES_OF_A_LINE 64 /* more is not a sentence */

static const char small[] = "LoRA|QLoRA|8-bit|4-bit|8bit|4bit|INT8|INT4|FP8|FP4|quant|quantized|양자화|offload|"
			    "offloading|오프로딩|오프로드|GGUF|AWQ|GPTQ|MoE|pruned";

/* Words that something fits or runs, or does not. */
static const char fit_words[] = "fit|fits|fitting|run|runs|loads|loaded|serve|served|들어갑|들어가|들어간|올라|올려|"
				"올립|돌아|돌립|탑재|담깁|담을|적재",
		  not_words[] =
			  "not|cannot|doesn't|don't|can't|won't|didn't|unless|only if|too large|exceed|exceeds|OOM|out "
			  "of memory|no longer|neither|without|않|못|부족|초과|불가|안 들|넘어|넘습|없";
static const char several[] = "멀티노드|multi-node|multinode|nodes|노드|Tensor Parallel";
static const char whole_weights[] = "16bit|16-bit|fp16|bf16|float16|bfloat16|half precision";

enum use { USE_NONE, USE_TRAIN, USE_INFER };

/* The line's own words decide, then the headings above. */
static enum use use_of(const struct jl_audit_note *note, uint32_t line)
{
	static const char states[] = "optimizer|optimiser|옵티마이저|gradient|gradients|기울기|Adam|AdamW|states|학습|"
				     "training|train|fine-tuning|finetuning|pretraining|파인튜닝|미세조정";
	const struct jl_line *l = &note->lines[line];

	if (JL_PART_HAS(note, l, "가중치|weights") &&
	    !JL_PART_HAS(note, l, "optimizer|옵티마이저|gradient|gradients|기울기"))
		return USE_INFER;
	if (l->kind != JL_LINE_ROW && JL_PART_HAS(note, l, whole_weights) && JL_PART_HAS(note, l, fit_words) &&
	    !JL_PART_HAS(note, l, states))
		return USE_INFER;
	for (uint32_t s = line + 1, hops = 0; s && hops < 3; s = note->lines[s - 1].section, hops++) {
		if (JL_PART_HAS(note, &note->lines[s - 1], "추론|inference|serving|서빙|serve|LLaMA 70B"))
			return USE_INFER;
		if (JL_PART_HAS(note, &note->lines[s - 1], "학습|training|train|fine-tuning|pretraining"))
			return USE_TRAIN;
	}
	return USE_NONE;
}

/* Minimum bytes per GPU for weights, gradients and AdamW's states. */
static double least_B(const struct jl_audit_note *note, const struct jl_line *line, enum use use, double params,
		      double n)
{
	if (use == USE_INFER)
		return params * 2 / n;
	if (JL_PART_HAS(note, line, "ZeRO-2|ZeRO 2|ZeRO2"))
		return params * 2 + params * 14 / n;
	return params * 16 / n; /* fully sharded */
}

/* A model in a line: its figure, or part of a name ("Llama-3-70B"). */
struct named_model {
	double params;
	int32_t fig; /* -1: part of a name */
	uint32_t at, len;
};

static void check_fit(struct jl_audit_note *note, uint32_t l, const struct named_model *m, double n)
{
	const struct jl_line *line = &note->lines[l];
	const struct jl_mention *on = line->n_mentions ? jl_audit_line_mention(note, l)
						       : jl_audit_section_mention(note, l);
	const struct jl_entity *e = jl_mention_entity(note, on);
	const enum use use = use_of(note, l);
	struct jl_audit_finding *said;
	const char *name = NULL;
	uint32_t count;
	double mem = 0, need;

	if (!on || !e->n_gpus || use == USE_NONE || JL_PART_HAS(note, line, small) ||
	    (line->kind != JL_LINE_ROW && JL_PART_HAS(note, line, not_words)) || m->params < 5e8)
		return;
	for (size_t i = 0; i < e->n_gpus; i++) /* the possible variant with the largest memory */
		if (e->gpus[i]->mem_B.value > mem) {
			mem = e->gpus[i]->mem_B.value;
			name = e->gpus[i]->name;
		}
	need = least_B(note, line, use, m->params, n);
	/* inference also needs memory beside the weights */
	if (!(mem > 0) || need <= mem * (use == USE_INFER ? 1 : 1.02) ||
	    !(said = jl_finding_new(note, JL_AUDIT_UNLIKELY, "bound", m->at, m->len, m->fig)))
		return;
	const struct jl_gpu *meant = jl_audit_gpu(note, on, &count); /* as specified elsewhere in the note */
	name = meant && meant->mem_B.value >= mem ? meant->name : name;
	snprintf(said->estimate, sizeof said->estimate, "%.0f GB > %.0f GiB", need / 1e9, mem / 1073741824.0);
	if (use == USE_INFER)
		jl_audit_finding_explain(
			said,
			"16-bit weights take %.0f GB on each of %.0f, and %s has %.0f GiB; %d bits or fewer would fit",
			need / 1e9, n, name, mem / 1073741824.0,
			need / 2 < mem   ? 8
			: need / 4 < mem ? 4
					 : 2);
	else
		jl_audit_finding_explain(
			said,
			"weights, gradients and AdamW's states (16 bytes a parameter) take %.0f GB on each "
			"of %.0f, and %s has %.0f GiB",
			need / 1e9, n, name, mem / 1073741824.0);
}

/* Number of GPUs for a model in a line: "2GPU", "single GPU"; 0: none, or several nodes. */
static double gpus_of(const struct jl_audit_note *note, const struct jl_line *line)
{
	double n = 0;

	if (JL_PART_HAS(note, line, several))
		return 0;
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		const struct jl_figure *f = &note->figures[i];

		if (f->qty == JL_Q_COUNT && JL_PART_HAS(note, f, "GPU|GPUs|장") && f->lo >= 1)
			n = f->hi;
	}
	if (n == 0 && JL_PART_HAS(note, line, "단일 GPU|single GPU|one GPU|1 GPU|single-GPU|한 장|한장"))
		n = 1;
	return n;
}

/* Finds "-70B" at the end of a name. */
static bool model_in_name(const struct jl_audit_note *note, const struct jl_line *line, struct named_model *ret)
{
	const char *t = note->text + line->at;

	for (uint32_t i = 1; i + 2 < line->len; i++) {
		uint32_t from = i, to;
		double v = 0;

		if (t[i - 1] != '-' || !isdigit((unsigned char)t[i]))
			continue;
		for (to = i; to < line->len && isdigit((unsigned char)t[to]) && to - i < 4; to++)
			v = v * 10 + (t[to] - '0');
		if (to >= line->len || t[to] != 'B' || (to + 1 < line->len && isalnum((unsigned char)t[to + 1])))
			continue;
		while (from && (isalnum((unsigned char)t[from - 1]) || strchr("-.", t[from - 1])))
			from--;
		*ret = (struct named_model){ v * 1e9, -1, line->at + from, to + 1 - from };
		return v > 0;
	}
	return false;
}

/* Number of GPUs in the sentence of the model: "... fits one RTX 3090", "runs on a single H100". 0: not given. */
static double named_gpus(const struct jl_audit_note *note, const struct jl_line *line, const struct named_model *m)
{
	uint32_t from, to;

	jl_audit_sentence(note, line, m->at, &from, &to);
	const struct jl_mention *on = jl_audit_mention_in(note, line, from, to);
	if (!on || line->kind == JL_LINE_HEAD || line->kind == JL_LINE_ROW || JL_PART_HAS(note, line, several) ||
	    !jl_span_has(note->text + from, to - from, fit_words))
		return 0;
	const uint32_t near = on->at > from + 8 ? on->at - 8 : from;
	return on->count ? on->count : jl_span_has(note->text + near, on->at - near, "one|single") ? 1 : 0;
}

static void check_model(struct jl_audit_note *note, uint32_t l)
{
	const struct jl_line *line = &note->lines[l];
	double n = gpus_of(note, line);
	struct named_model m = { .fig = -1 };

	if (!(n > 0) && !line->n_mentions)
		return;
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++)
		if (note->figures[i].qty == JL_Q_PARAMS && note->figures[i].scale >= 1e9) {
			if (m.len)
				return; /* two models */
			m = (struct named_model){ note->figures[i].lo, (int32_t)i, note->figures[i].at,
						  note->figures[i].len };
		}
	if (m.len || (line->len < 400 && line->kind != JL_LINE_HEAD && model_in_name(note, line, &m))) {
		n = n > 0 ? n : named_gpus(note, line, &m);
		if (n > 0)
			check_fit(note, l, &m, n);
	}
}

/* --- bytes into fewer bytes */

/* "140 GB fit in 128 GB", "26 GB runs on a card of 24 GB", "140GB이므로 128GB에 들어갑니다": need, capacity, and a verb between or after them. Skips
 * sentences with quantization or several devices. */
static bool check_room(struct jl_audit_note *note, const struct jl_line *line, uint32_t i)
{
	static const char shared[] =
		"two|three|four|five|six|eight|both|all|nodes|GPUs|across|each|per|total|두|세|네|장씩|여러|compress|"
		"compressed|압축|shard|sharded|shards|stream|streamed|split|분할|나누|나눠|batches|half|절반|swap|mmap|"
		"KV|여유|so that|recomputed|recompute|after|once|reduced|shrink|shrinks|줄여|줄이|줄어|재계산";
	const struct jl_figure *a = &note->figures[i], *b = a + 1;
	const char *t = note->text;
	uint32_t from, to;
	struct jl_audit_finding *said;

	if (a->qty != JL_Q_BYTES || b->qty != JL_Q_BYTES || a->lo <= b->hi * 1.05 || a->lo > b->hi * 20 ||
	    (a->flags | b->flags) & JL_FIG_OPEN || a->scale < 1e9)
		return false;
	jl_audit_sentence(note, line, b->at, &from, &to);
	const uint32_t end = b->at + b->len, far = to < end + 48 ? to : end + 48;
	if (a->at < from || jl_span_has(t + from, to - from, small) || jl_span_has(t + from, to - from, shared) ||
	    jl_span_has(t + from, to - from, not_words) ||
	    (i + 2 < line->fig + line->n_figs && b[1].at < to && b[1].qty == JL_Q_BYTES))
		return false;
	if (!jl_span_has(t + a->at + a->len, b->at - a->at - a->len,
			 "fit in|fits in|fit into|fits into|fit on|fits on|fit within|fits within|fit one|fits "
			 "one|runs on|run on|loads into|goes into") &&
	    !jl_span_has(t + end, far - end, "들어갑|들어가|들어간|올라갑|올라가|담깁|돌아갑|실행됩"))
		return false;
	said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "bound", (int32_t)i);
	if (said)
		jl_audit_finding_explain(said, "more than the stated %s that it should fit in", JL_QUOTE(note, b));
	return said != NULL;
}

void jl_rule_fits(struct jl_audit_note *note)
{
	for (uint32_t l = 0; l < note->n_lines; l++) {
		const struct jl_line *line = &note->lines[l];
		bool said = false;

		if (!line->n_figs || line->n_figs > FIGURES_OF_A_LINE)
			continue;
		for (uint32_t i = line->fig; line->kind != JL_LINE_ROW && i + 1 < line->fig + line->n_figs; i++)
			said |= check_room(note, line, i);
		if (!said)
			check_model(note, l);
	}
}
