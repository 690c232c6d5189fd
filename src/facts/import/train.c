/* Imports training logs: tqdm progress bars, DeepSpeed's timer, Megatron-LM's iterations, Hugging Face Trainer's last line, user-given formats. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/runlog.h"
#include "import/series.h"

struct train {
	struct jl_series_set set;
	struct jl_import_pattern pattern;
	bool has_pattern, asked;
	size_t n_bars;                        /* bars in the longest Megatron-LM iteration line so far */
	struct jl_number batch, seq, n_total; /* torchtitan header, before its steps; 0: absent */
	struct jl_draft draft;
};

static void drop_cut(struct jl_importer *imp, const struct jl_line *line, const char *tool)
{
	jl_importer_seen(imp, tool);
	jl_importer_remark(imp, line->number, true, "dropped: a line of %s that is cut", tool);
}

/* Position after a clock of a tqdm bar, " 10%|█    | 100/1000 [01:46<15:54,  1.06s/it, loss=2.1]": mm:ss, h:mm:ss, or "?". */
static const char *skip_clock(const char *at)
{
	size_t n = strspn(at, "0123456789:");

	if (*at == '?')
		return at + 1;
	return n >= 4 && n < 16 ? at + n : NULL;
}

/* Seconds of "mm:ss" or "h:mm:ss". */
static double clock_s(const char *at)
{
	double s = 0, part = 0;

	for (; isdigit((unsigned char)*at) || *at == ':'; at++) {
		part = *at == ':' ? 0 : 10 * part + (*at - '0');
		s = *at == ':' ? 60 * s : s - fmod(s, 60) + part;
	}
	return s;
}

/* "100/1000 " before the bracket; false: abbreviated counts (1.2k), or no total. */
static bool counts_before(const char *start, const char *bracket, double *ret_n, double *ret_total)
{
	const char *at = bracket;
	char text[2][24];
	size_t len;

	if (at == start || at[-1] != ' ')
		return false;
	at--;
	for (int part = 1; part >= 0; part--) {
		const char *end = at;

		while (at > start && isdigit((unsigned char)at[-1]))
			at--;
		len = (size_t)(end - at);
		if (len == 0 || len > 15)
			return false;
		(void)snprintf(text[part], sizeof(text[part]), "%.*s", (int)len, at);
		if (part == 1 && (at == start || *--at != '/'))
			return false;
	}
	if (at > start && (at[-1] == '.' || isalnum((unsigned char)at[-1])))
		return false;
	return jl_scan_whole(text[0], ret_n) && jl_scan_whole(text[1], ret_total);
}

static bool is_word(const char *at, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && strncmp(*words, at, len) == 0)
			return true;
	return false;
}

/* "1.06s/it" or "12.3it/s" as seconds per step; false for other units (files, bytes, examples of a tokenizer). */
static bool scan_rate(const char **at, double *ret_step_s, double *ret_off_frac)
{
	static const char *const units[] = { "it", "step", "steps", "batch", "batches", "iter", NULL };
	struct jl_number number;
	const char *c = *at + strspn(*at, " ");
	size_t len;

	if (!jl_scan_number(&c, &number) || !(number.value > 0))
		return false;
	*ret_off_frac = number.half / number.value;
	c += strspn(c, " "); /* a custom unit follows after a blank */
	if (strncmp(c, "s/", 2) == 0) {
		len = strspn(c + 2, "abcdefghijklmnopqrstuvwxyz");
		*ret_step_s = number.value;
		*at = c + 2 + len;
		return is_word(c + 2, len, units);
	}
	len = strspn(c, "abcdefghijklmnopqrstuvwxyz");
	if (!is_word(c, len, units) || strncmp(c + len, "/s", 2) != 0)
		return false;
	*ret_step_s = 1 / number.value;
	*at = c + len + 2;
	return true;
}

/* Label before "10%|": "Epoch 3: " becomes "Epoch". False for bars of loading or tokenizing. */
static bool label_of(const char *start, char *ret_label, size_t size)
{
	static const char *const others[] = { "Load",    "Download", "Map",    "Filter",  "Generat", "Fetch",
					      "Tokeniz", "Eval",     "Valid",  "Test",    "Predict", "Saving",
					      "Extract", "Group",    "Runnin", "Casting", "Flatten", "Upload",
					      "Captur",  "Process",  "Creat",  NULL };
	const char *bar = strstr(start, "%|");
	size_t n = 0;

	if (!bar)
		return false;
	while (bar > start && isdigit((unsigned char)bar[-1]))
		bar--;
	for (const char *c = start; c < bar && n + 1 < size; c++)
		if (!isdigit((unsigned char)*c) && *c != ':' && !(isspace((unsigned char)*c) && n == 0))
			ret_label[n++] = *c;
	while (n && isspace((unsigned char)ret_label[n - 1]))
		n--;
	ret_label[n] = '\0';
	for (size_t i = 0; others[i]; i++)
		if (strncasecmp(ret_label, others[i], strlen(others[i])) == 0)
			return false;
	return true;
}

static bool take_tqdm(struct jl_importer *imp, struct train *t, const struct jl_line *line)
{
	struct jl_run_step step = jl_step_unknown("tqdm");
	char label[64];

	if (!strstr(line->text, "%|"))
		return false;
	for (const char *bracket = strchr(line->text, '['); bracket; bracket = strchr(bracket + 1, '[')) {
		const char *at = skip_clock(bracket + 1);

		if (!at || *at++ != '<')
			continue;
		at = skip_clock(at);
		if (!at || *at++ != ',' || !counts_before(line->text, bracket, &step.step, &step.n_total))
			continue;
		/* without a closing bracket the line is truncated, perhaps within a number */
		if (!strchr(at, ']')) {
			drop_cut(imp, line, "tqdm");
			return true;
		}
		if (!scan_rate(&at, &step.step_s, &step.off_frac) || (*at != ']' && *at != ','))
			continue;
		step.at_s = clock_s(bracket + 1);
		if (!(step.step > 0) || step.step > step.n_total || !label_of(line->text, label, sizeof(label)))
			return true;
		step.label = label;
		jl_series_add(imp, &t->set, &step, line);
		return true;
	}
	return false;
}

/* A rate at the end of the line may be truncated: accepted only if the digits present are precise enough. */
static bool rate_after(const struct jl_line *line, const char *key, double *ret_rate)
{
	const char *at = strstr(line->text, key);
	struct jl_number number;
	double enough;

	if (!at || !jl_scan_after(line, key, &number))
		return false;
	at += strlen(key);
	at += strspn(at, " ");
	enough = fmax(5.1e-4, 1e-6 * number.value); /* its timer prints three decimals */
	if (at[strcspn(at, ", \t")] == '\0' && number.half > enough)
		return false;
	*ret_rate = number.value;
	return true;
}

static bool take_deepspeed(struct jl_importer *imp, struct train *t, const struct jl_line *line)
{
	static const char *const rates[] = { "CurrSamplesPerSec=", " SamplesPerSec=", NULL };
	struct jl_run_step step = jl_step_unknown("DeepSpeed");
	struct jl_number number;

	if (strstr(line->text, "SamplesPerSec=") && !strstr(line->text, "E2E latency=")) {
		for (size_t i = 0; rates[i] && isnan(step.samples_per_s); i++)
			(void)rate_after(line, rates[i], &step.samples_per_s);
		const char *at = strstr(line->text, "stop] "), *slash = at ? strchr(at, '/') : NULL;

		if (jl_scan_after(line, "global_step=", &number))
			step.step = number.value;
		else if (slash && isdigit((unsigned char)slash[1])) /* before 2023: "0/40, SamplesPerSec=" */
			step.step = strtod(slash + 1, NULL);
	} else if (strstr(line->text, "iter time (s):")) {
		(void)rate_after(line, "iter time (s):", &step.step_s);
		(void)rate_after(line, "samples/sec:", &step.samples_per_s);
		if (jl_scan_after(line, "steps:", &number))
			step.step = number.value;
	} else {
		return false;
	}
	if (isnan(step.samples_per_s) && isnan(step.step_s))
		drop_cut(imp, line, "DeepSpeed");
	else
		jl_series_add(imp, &t->set, &step, line);
	return true;
}

/* Complete lines of Megatron-LM: every field ends with a bar, and all lines of a run have the same fields. */
static bool is_whole(struct train *t, const struct jl_line *line)
{
	size_t n_bars = 0, len = line->len;

	while (len && isspace((unsigned char)line->text[len - 1]))
		len--;
	for (size_t i = 0; i < len; i++)
		n_bars += line->text[i] == '|';
	if (!len || line->text[len - 1] != '|' || n_bars < t->n_bars)
		return false;
	if (line->torn && n_bars != t->n_bars)
		return false;
	t->n_bars = n_bars;
	return true;
}

static bool take_megatron(struct jl_importer *imp, struct train *t, const struct jl_line *line)
{
	struct jl_run_step step = jl_step_unknown("Megatron-LM");
	const char *iteration = strstr(line->text, "iteration ");
	const char *time = strstr(line->text, "elapsed time per iteration (ms):");
	const char *flops = strstr(line->text, "throughput per GPU (TFLOP/s/GPU):");
	struct jl_number number;

	if (!iteration || !time || iteration > time)
		return false;
	if (!is_whole(t, line) || !jl_scan_after(line, "elapsed time per iteration (ms):", &number)) {
		drop_cut(imp, line, "Megatron-LM");
		return true;
	}
	step.step_s = number.value * 1e-3;
	iteration += strlen("iteration ");
	iteration += strspn(iteration, " ");
	if (jl_scan_number(&iteration, &number)) {
		step.step = number.value;
		iteration += strspn(iteration, " ");
		if (*iteration == '/') {
			iteration += 1 + strspn(iteration + 1, " ");
			if (jl_scan_number(&iteration, &number))
				step.n_total = number.value;
		}
	}
	if (flops && jl_scan_after(line, "throughput per GPU (TFLOP/s/GPU):", &number))
		step.flopps = number.value * 1e12;
	if (jl_scan_after(line, "global batch size:", &number))
		step.batch = number.value;
	if (isfinite(step.batch) && step.step_s > 0)
		step.samples_per_s = step.batch / step.step_s;
	jl_series_add(imp, &t->set, &step, line);
	return true;
}

/* Hugging Face Trainer: {'train_runtime': 123.4, 'train_samples_per_second': 81.0, 'train_steps_per_second': 5.06, ...} */
struct trainer {
	struct jl_number runtime_s, samples_per_s, steps_per_s;
};

static void emit_trainer(struct jl_importer *imp, struct jl_draft *d, const struct trainer *tr, size_t line,
			 const char *text)
{
	/* rounded to three decimals: too imprecise for slow steps */
	bool precise = tr->steps_per_s.value > 0 && tr->steps_per_s.half / tr->steps_per_s.value <= 0.01;

	jl_importer_seen(imp, "Hugging Face Trainer");
	jl_draft_begin(d, "train", "hf-trainer", line, text);
	jl_draft_number(d, "runtime_s", tr->runtime_s.value);
	if (precise)
		jl_draft_metric(d, "step_s", true, 1 / tr->steps_per_s.value);
	jl_draft_metric(d, "samples_per_s", false, tr->samples_per_s.value);
	if (d->n_metrics)
		jl_importer_emit(imp, d);
	else
		jl_importer_remark(imp, line, true, "dropped: the Trainer's last line has no rate");
}

/* Number after 'key': or "key":, possibly quoted. */
static bool dict_number(const char *text, const char *key, struct jl_number *ret_number)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += strlen(key);
	if (*at != '\'' && *at != '"')
		return false;
	at += 1 + strspn(at + 1, ": ");
	at += *at == '\'' || *at == '"';
	if (!jl_scan_number(&at, ret_number))
		return false;
	at += *at == '\'' || *at == '"';
	return *at == ',' || *at == '}';
}

static bool take_trainer(struct jl_importer *imp, struct train *t, const struct jl_line *line)
{
	const char *open = strchr(line->text, '{');
	struct trainer tr = { .runtime_s.value = NAN, .samples_per_s.value = NAN, .steps_per_s.value = NAN };

	if (!open || !strstr(open, "train_runtime") || !dict_number(open, "train_runtime", &tr.runtime_s))
		return false;
	if (!strchr(open, '}')) {
		drop_cut(imp, line, "Hugging Face Trainer");
		return true;
	}
	(void)dict_number(open, "train_samples_per_second", &tr.samples_per_s);
	(void)dict_number(open, "train_steps_per_second", &tr.steps_per_s);
	emit_trainer(imp, &t->draft, &tr, line->number, line->text);
	return true;
}

/* train_results.json, all_results.json */
static bool take_trainer_json(struct jl_importer *imp, const json_t *root, size_t line)
{
	struct jl_draft draft;
	struct trainer tr = {
		.runtime_s.value = jl_scan_json(root, "train_runtime"),
		.samples_per_s.value = jl_scan_json(root, "train_samples_per_second"),
		.steps_per_s = { .value = jl_scan_json(root, "train_steps_per_second"), .half = 5e-4 },
	};

	if (isnan(tr.runtime_s.value))
		return false;
	emit_trainer(imp, &draft, &tr, line, NULL);
	return true;
}

const struct jl_format jl_format_trainer_json = { .name = "Hugging Face Trainer", .json = take_trainer_json };

/* trainer_log.jsonl of LLaMA-Factory: one document per logged step. */
static bool take_llama_factory(struct jl_importer *imp, const json_t *root, size_t line)
{
	const char *elapsed = json_string_value(json_object_get(root, "elapsed_time"));
	const double step = jl_scan_json(root, "current_steps");
	struct jl_run_step s = jl_step_unknown("LLaMA-Factory");

	if (!elapsed || isnan(step))
		return false;
	jl_importer_seen(imp, s.trainer);
	s.line = line;
	s.step = step;
	s.n_total = jl_scan_json(root, "total_steps");
	s.at_s = clock_s(elapsed);
	s.tokens_per_s = jl_scan_json(root, "throughput");
	s.loss = jl_scan_json(root, "loss");
	if (!isnan(s.loss))
		jl_importer_step(imp, &s);
	else if (!isnan(jl_scan_json(root, "eval_loss")))
		jl_importer_pause(imp, &(struct jl_run_pause){ .kind = JL_PAUSE_EVALUATION,
							       .line = line,
							       .step = step,
							       .at_s = s.at_s,
							       .took_s = NAN });
	return true;
}

const struct jl_format jl_format_llama_factory = { .name = "LLaMA-Factory", .json = take_llama_factory };

static bool take_pattern(struct jl_importer *imp, struct train *t, const struct jl_line *line)
{
	struct jl_run_step step;
	struct jl_err err;

	if (!t->asked) {
		const char *text = jl_importer_options(imp)->pattern;

		t->asked = true;
		if (text && jl_import_pattern_compile(&t->pattern, text, &err))
			jl_importer_fail(imp, err.status, &err);
		else
			t->has_pattern = text != NULL;
	}
	if (!t->has_pattern)
		return false;
	if (!jl_import_pattern_match(&t->pattern, line, &step)) {
		struct jl_line whole = *line;

		whole.torn = false;
		if (!line->torn || !jl_import_pattern_match(&t->pattern, &whole, &step))
			return false;
		drop_cut(imp, line, "--pattern");
		return true;
	}
	jl_series_add(imp, &t->set, &step, line);
	return true;
}

/* torchtitan: "... global batch size 64, [gradient accumulation steps 1,] sequence length 8192, total steps 1000 (warmup 200)" */
static bool take_header(struct train *t, const struct jl_line *line)
{
	struct jl_number batch, seq, n_total;

	if (line->torn || !jl_scan_after(line, " global batch size ", &batch) ||
	    !jl_scan_after(line, " sequence length ", &seq) || !jl_scan_after(line, " total steps ", &n_total))
		return false;
	t->batch = batch;
	t->seq = seq;
	t->n_total = n_total;
	return true;
}

static void add_header(struct jl_run_step *step, const struct train *t)
{
	if (strcmp(step->trainer, "torchtitan") != 0)
		return;
	step->batch = t->batch.value > 0 ? t->batch.value : NAN;
	step->seq = t->seq.value > 0 ? t->seq.value : NAN;
	step->n_total = t->n_total.value > 0 ? t->n_total.value : NAN;
}

static bool take_table(struct jl_importer *imp, struct train *t, const struct jl_line *line)
{
	struct jl_run_step step;

	if (take_header(t, line))
		return true;
	if (!jl_log_step(&step, line))
		return false;
	add_header(&step, t);
	if (line->torn)
		drop_cut(imp, line, step.trainer);
	else
		jl_series_add(imp, &t->set, &step, line);
	return true;
}

static bool take_line(struct jl_importer *imp, void *state, const struct jl_line *line)
{
	struct train *t = state;

	struct jl_run_pause pause;

	if (jl_log_pause(&pause, line))
		jl_importer_pause(imp, &pause);
	return take_pattern(imp, t, line) || take_tqdm(imp, t, line) || take_megatron(imp, t, line) ||
	       take_deepspeed(imp, t, line) || take_trainer(imp, t, line) || take_table(imp, t, line);
}

static void end(struct jl_importer *imp, void *state)
{
	jl_series_end(imp, &((struct train *)state)->set);
}

const struct jl_format jl_format_train = {
	.name = "training log", .state_B = sizeof(struct train), .line = take_line, .end = end
};
