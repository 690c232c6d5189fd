/* Table of trainers whose logs have one line per step. */
#include "import/series.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FIELDS_MAX 8

/* A value after its key. A key that begins with '<': the value precedes that text; with '/': the value follows the slash after that text:
 * "2150/29317". */
struct field {
	const char *key;
	size_t offset; /* offset in struct jl_run_step */
	double scale;
	bool inverse; /* steps per second */
};
#define AT(MEMBER) offsetof(struct jl_run_step, MEMBER)

static const struct trainer {
	const char *name;
	const char *has[2]; /* a step line contains both texts */
	bool per_gpu;       /* tokens per second are per GPU */
	struct field fields[FIELDS_MAX];
} trainers[] = {
	{ "torchtitan",
	  { "step:", "tps:" },
	  true,
	  { { "step:", AT(step), 1, false },
	    { "loss:", AT(loss), 1, false },
	    { "memory:", AT(mem_B), 1073741824, false },
	    { "tps:", AT(tokens_per_s), 1, false },
	    { "tflops:", AT(flopps), 1e12, false },
	    { "mfu:", AT(mfu_frac), 0.01, false } } },
	{ "MaxText",
	  { "completed step:", "seconds:" },
	  true,
	  { { "completed step:", AT(step), 1, false },
	    { "seconds:", AT(step_s), 1, false },
	    { "TFLOP/s/device:", AT(flopps), 1e12, false },
	    { "Tokens/s/device:", AT(tokens_per_s), 1, false },
	    { "loss:", AT(loss), 1, false } } },
	{ "NeMo",
	  { "train_step_timing in s", "global_step" },
	  false,
	  { { "global_step:", AT(step), 1, false },
	    { "global_step=", AT(step), 1, false },
	    { "train_step_timing in s:", AT(step_s), 1, false },
	    { "train_step_timing in s=", AT(step_s), 1, false },
	    { "global_batch_size:", AT(batch), 1, false },
	    { "reduced_train_loss:", AT(loss), 1, false },
	    { "reduced_train_loss=", AT(loss), 1, false } } },
	{ "nanoGPT",
	  { "iter ", ", time " },
	  false,
	  { { "iter ", AT(step), 1, false },
	    { ": loss ", AT(loss), 1, false },
	    { ", time ", AT(step_s), 1e-3, false },
	    { ", mfu ", AT(mfu_frac), 0.01, false } } },
	{ "llm.c",
	  { "step ", " tok/s" },
	  false,
	  { { "step ", AT(step), 1, false },
	    { "loss ", AT(loss), 1, false },
	    { "< ms |", AT(step_s), 1e-3, false },
	    { "< tok/s", AT(tokens_per_s), 1, false } } },
	{ "Axolotl",
	  { "'tokens_per_second_per_gpu':", "'loss':" },
	  true,
	  { { "'loss':", AT(loss), 1, false },
	    { "'tokens_per_second_per_gpu':", AT(tokens_per_s), 1, false },
	    { "'memory/max_mem_active(gib)':", AT(mem_B), 1073741824, false },
	    { "'memory/max_active (GiB)':", AT(mem_B), 1073741824, false } } },
	{ "modded-nanoGPT",
	  { "step:", "train_time:" },
	  false,
	  { { "step:", AT(step), 1, false },
	    { "train_loss:", AT(loss), 1, false },
	    { "train_time:", AT(at_s), 1e-3, false } } },
	{ "nanochat",
	  { "dt:", "tok/sec:" },
	  false,
	  { { "step ", AT(step), 1, false },
	    { "loss:", AT(loss), 1, false },
	    { "dt:", AT(step_s), 1e-3, false },
	    { "tok/sec:", AT(tokens_per_s), 1, false },
	    { "mfu:", AT(mfu_frac), 0.01, false } } },
	{ "DeepSpeed-Chat",
	  { "E2E latency=", "CurSamplesPerSec=" },
	  false,
	  { { "E2E latency=", AT(step_s), 1, false }, { "CurSamplesPerSec=", AT(samples_per_s), 1, false } } },
	{ "OpenMMLab", /* step numbers restart in each epoch */
	  { "data_time:", "][" },
	  false,
	  { { "Epoch [", AT(epoch), 1, false },
	    { "Epoch(train)  [", AT(epoch), 1, false },
	    { "][", AT(step), 1, false },
	    { "/][", AT(n_total), 1, false },
	    { " time:", AT(step_s), 1, false },
	    { " memory:", AT(mem_B), 1048576, false },
	    { " loss:", AT(loss), 1, false } } },
	{ "TensorFlow",
	  { "global step ", " sec/step" },
	  false,
	  { { "global step ", AT(step), 1, false },
	    { "loss = ", AT(loss), 1, false },
	    { "< sec/step", AT(step_s), 1, false } } },
	{ "tinygrad",
	  { " s run,", " GFLOPS" },
	  false,
	  { { "", AT(step), 1, false }, /* at the start of the line */
	    { "< loss", AT(loss), 1, false },
	    { "< s run", AT(step_s), 1, false } } },
	{ "it/s",
	  { "step", "it/s" },
	  false,
	  { { "step ", AT(step), 1, false },
	    { "step: ", AT(step), 1, false },
	    { "step=", AT(step), 1, false },
	    { "loss ", AT(loss), 1, false },
	    { "loss: ", AT(loss), 1, false },
	    { "< it/s", AT(step_s), 1, true },
	    { "<it/s", AT(step_s), 1, true } } },
};

/* "8,436.5": digits, thousands separators, fraction, exponent. */
static bool scan(const char *at, double *ret_value)
{
	char text[32];
	size_t n = 0;
	const char *c = at + strspn(at, " \t'\"");
	struct jl_number number;

	for (; n + 1 < sizeof(text) && (isdigit((unsigned char)*c) || strchr(".eE+-,", *c)) && *c; c++)
		if (*c != ',' ||
		    !(isdigit((unsigned char)c[1]) && isdigit((unsigned char)c[2]) && isdigit((unsigned char)c[3])))
			text[n++] = *c;
	text[n] = '\0';
	c = text;
	if (!jl_scan_number(&c, &number))
		return false;
	*ret_value = number.value;
	return true;
}

static bool find_field(const struct field *f, const char *text, double *ret_value)
{
	const bool before = f->key[0] == '<', slash = f->key[0] == '/';
	const char *at = strstr(text, f->key + (before || slash));

	if (at && slash)
		at = strchr(at, '/');
	if (!at)
		return false;
	if (!before)
		return scan(at + (slash ? 1 : strlen(f->key)), ret_value);
	while (at > text && at[-1] == ' ')
		at--;
	while (at > text && (isdigit((unsigned char)at[-1]) || strchr(".,eE", at[-1])))
		at--;
	return scan(at, ret_value);
}

bool jl_log_step(struct jl_run_step *ret_step, const struct jl_line *line)
{
	for (size_t i = 0; i < JL_LEN(trainers); i++) {
		const struct trainer *t = &trainers[i];
		struct jl_run_step step = jl_step_unknown(t->name);
		double value;

		if (!strstr(line->text, t->has[0]) || !strstr(line->text, t->has[1]))
			continue;
		for (size_t k = 0; k < FIELDS_MAX && t->fields[k].key; k++)
			if (find_field(&t->fields[k], line->text, &value)) {
				value = t->fields[k].scale * (t->fields[k].inverse ? 1 / value : value);
				memcpy((char *)&step + t->fields[k].offset, &value, sizeof(value));
			}
		if (!(step.step_s > 0) && !(step.tokens_per_s > 0) && isnan(step.at_s))
			continue;
		if (step.epoch >= 1 && step.n_total > 0) {
			step.step += (step.epoch - 1) * step.n_total;
			step.n_total = NAN;
		}
		step.per_gpu = t->per_gpu;
		*ret_step = step;
		return true;
	}
	return false;
}

/* Messages of trainers between steps; the first match applies. */
static const struct {
	enum jl_pause kind;
	const char *has[2];
	const char *took; /* text before the seconds; NULL: not logged */
} pauses[] = {
	{ JL_PAUSE_CHECKPOINT, { "inished saving the checkpoint", "" }, " in " },
	{ JL_PAUSE_CHECKPOINT, { "save-checkpoint", "..." }, NULL }, /* timers of Megatron-LM */
	{ JL_PAUSE_CHECKPOINT, { "aving", "checkpoint" }, NULL },
	{ JL_PAUSE_CHECKPOINT, { "aved", "checkpoint" }, " in " },
	{ JL_PAUSE_CHECKPOINT, { "[Torch] Sav", "" }, NULL },
	{ JL_PAUSE_EVALUATION, { "'eval_runtime':", "" }, "'eval_runtime':" },
	{ JL_PAUSE_EVALUATION, { "Running Evaluation", "" }, NULL },
	{ JL_PAUSE_EVALUATION, { "validation loss", "" }, NULL },
	{ JL_PAUSE_EVALUATION, { "train loss", "val loss" }, NULL }, /* evaluation in nanoGPT */
	{ JL_PAUSE_EVALUATION, { "Eval", "loss" }, NULL },
	{ JL_PAUSE_RESTART, { "oaded checkpoint", "" }, NULL },
	{ JL_PAUSE_RESTART, { "oading the checkpoint", "" }, NULL },
	{ JL_PAUSE_RESTART, { "esuming", "checkpoint" }, NULL },
	{ JL_PAUSE_RESTART, { "esuming training from", "" }, NULL },
};

bool jl_log_pause(struct jl_run_pause *ret_pause, const struct jl_line *line)
{
	for (size_t i = 0; i < JL_LEN(pauses); i++) {
		const char *at = strstr(line->text, pauses[i].has[0]);
		struct jl_run_pause p = { .kind = pauses[i].kind,
					  .line = line->number,
					  .step = NAN,
					  .at_s = jl_line_time_s(line->text),
					  .took_s = NAN };

		if (!at || !strstr(at, pauses[i].has[1]))
			continue;
		at = pauses[i].took ? strstr(at, pauses[i].took) : NULL;
		if (at && !scan(at + strlen(pauses[i].took), &p.took_s))
			p.took_s = NAN;
		*ret_pause = p;
		return true;
	}
	return false;
}

/* "2026-01-02 03:02:01,345", "[2026-01-02T03:02:01.345", "10/15 10:01:02": near the beginning of the line. Times of day without a date, and dates
 * before 1970, are ignored. */
double jl_line_time_s(const char *text)
{
	struct tm tm = { 0 };
	int n = 0;
	double ms = 0;

	for (size_t i = 0; i < 48 && text[i]; i++) {
		if (!isdigit((unsigned char)text[i]) || (i && isdigit((unsigned char)text[i - 1])))
			continue;
		if (sscanf(text + i, "%4d-%2d-%2d%*1[ T]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
			   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &n) < 6 ||
		    tm.tm_year < 1970 || tm.tm_year > 9999 || tm.tm_mon < 1 || tm.tm_mon > 12)
			continue;
		tm.tm_year -= 1900;
		tm.tm_mon--;
		if ((text[i + (size_t)n] == ',' || text[i + (size_t)n] == '.') &&
		    sscanf(text + i + n + 1, "%3lf", &ms) == 1)
			ms /= 1000;
		return (double)timegm(&tm) + ms;
	}
	return NAN;
}
