#include "check/machine_findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "check/machine_parts.h"
#include "predict/predict.h"

const char *jl_severity_name(enum jl_severity severity)
{
	static const char *const names[] = { "note", "warning", "bad" };

	return names[severity];
}

struct jl_finding *jl_finding_add(struct jl_finding_in *in, const char *key, enum jl_severity severity)
{
	if (in->out->n == JL_FINDINGS_MAX)
		return NULL;
	struct jl_finding *finding = &in->out->items[in->out->n++];
	*finding = (struct jl_finding){ .key = key, .severity = severity, .before = NAN, .after = NAN };
	return finding;
}

void jl_finding_join(struct jl_bitext *text, const struct jl_bitext *more)
{
	const size_t en = strlen(text->en), said = strlen(text->text);

	snprintf(text->en + en, sizeof(text->en) - en, "%s", more->en);
	snprintf(text->text + said, sizeof(text->text) - said, "%s", more->text);
}

void jl_bitext_print(struct jl_bitext *text, const char *en, ...)
{
	va_list args;

	va_start(args, en);
	jl_msg_vprint(text->en, text->text, sizeof(text->en), en, args);
	va_end(args);
	jl_utf8_sanitize(text->en);
	jl_utf8_sanitize(text->text);
}

size_t jl_finding_gpus(char out[JL_GPU_LIST_MAX], const bool *marked, size_t n)
{
	size_t count = 0, len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		size_t last = i;

		if (!marked[i])
			continue;
		while (last + 1 < n && marked[last + 1])
			last++;
		count += last - i + 1;
		if (len < JL_GPU_LIST_MAX - 40) {
			len += (size_t)snprintf(out + len, JL_GPU_LIST_MAX - len, "%sGPU%zu", len ? ", " : "", i);
			if (last > i)
				len += (size_t)snprintf(out + len, JL_GPU_LIST_MAX - len, "%sGPU%zu",
							last > i + 1 ? "–" : ", ", last);
		}
		i = last;
	}
	return count;
}

struct jl_finding *jl_finding_on(struct jl_finding_in *in, const char *key, enum jl_severity severity,
				 const bool *marked, char list[JL_GPU_LIST_MAX])
{
	return jl_finding_gpus(list, marked, in->machine->n_gpus) ? jl_finding_add(in, key, severity) : NULL;
}

void jl_finding_look(struct jl_finding_in *in, const struct jl_gpu_look *looks, size_t n)
{
	for (const struct jl_gpu_look *look = looks; look < looks + n; look++) {
		bool marked[JL_PROBE_GPUS_MAX] = { false };
		char list[JL_GPU_LIST_MAX];
		struct jl_finding *finding;

		for (size_t i = 0; i < in->machine->n_gpus; i++)
			marked[i] = look->shows(in->machine, &in->machine->gpus[i]);
		if (!(finding = jl_finding_on(in, look->key, look->severity, marked, list)))
			continue;
		jl_bitext_print(&finding->what, look->what, list);
		jl_bitext_print(&finding->why, "{%s}", look->why);
		jl_bitext_print(&finding->todo, "{%s}", look->todo);
	}
}

double jl_finding_samples_per_s(const struct jl_finding_in *in, const char *system)
{
	struct jl_request req = jl_request_empty();
	struct jl_case *c = jl_arena_alloc(in->arena, sizeof(*c));
	struct jl_prediction *prediction = jl_arena_alloc(in->arena, sizeof(*prediction));

	req.model = "gpt-305m";
	req.system = system;
	req.batch = 4;
	req.seq = 512;
	req.plan.zero = 0; /* all compared systems use plain data parallel */
	if (!system || !c || !prediction || jl_case_make(c, in->cat, &req, in->arena, NULL) != JL_OK)
		return NAN;
	jl_predict(prediction, NULL, c);
	return prediction->samples_per_s.value;
}

static void gravest_first(struct jl_findings *findings)
{
	for (size_t i = 1; i < findings->n; i++) {
		struct jl_finding item = findings->items[i];
		size_t at = i;

		for (; at > 0 && findings->items[at - 1].severity < item.severity; at--)
			findings->items[at] = findings->items[at - 1];
		findings->items[at] = item;
	}
}

enum jl_status jl_machine_findings(const struct jl_probe_machine *machine, const struct jl_catalog *cat,
				   struct jl_arena *arena, const struct jl_findings **ret_findings, struct jl_err *err)
{
	struct jl_finding_in in = { .machine = machine, .cat = cat, .arena = arena };

	in.out = jl_arena_alloc(arena, sizeof(*in.out));
	JL_TRY(jl_got(in.out, err));
	jl_findings_load(&in);
	jl_findings_links(&in);
	jl_findings_gpus(&in);
	jl_findings_host(&in);
	gravest_first(in.out);
	*ret_findings = in.out;
	return JL_OK;
}
