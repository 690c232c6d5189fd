#include "cli/predict_view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "doc/wrap.h"
#include "predict/kind.h"

#define LABEL_COLUMNS 10

const char *jl_view_range(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *e, enum jl_kind kind)
{
	return jl_range_text(out, e->value, e->lo, e->hi, kind);
}

const char *jl_view_device(const struct jl_case *c)
{
	return c->machine.sys.gpu ? "GPU" : "CPU";
}

void jl_view_entry(struct jl_cli *cli, const char *en, const char *format, ...)
{
	const char *label = en ? jl_msg(en) : "";
	const size_t width = jl_utf8_width(label);
	char text[512];
	va_list args;

	va_start(args, format);
	jl_vformat(text, sizeof(text), format, args);
	va_end(args);
	jl_buf_printf(&cli->out, "  %s%s%s", jl_view_bold(cli), label, jl_view_reset(cli));
	jl_buf_pad(&cli->out, ' ', width < LABEL_COLUMNS ? LABEL_COLUMNS - width : 1);
	jl_wrap(&cli->out, text,
		&(struct jl_wrap){ .width = cli->width, .at = LABEL_COLUMNS + 2, .indent = LABEL_COLUMNS + 2 });
}

/* A list of pieces with " · " between them, broken before the width of the terminal. */
struct pieces {
	struct jl_cli *cli;
	size_t column, indent;
};

static void piece(struct pieces *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void piece(struct pieces *p, const char *format, ...)
{
	char text[160];
	size_t width;
	va_list args;

	va_start(args, format);
	jl_vformat(text, sizeof(text), format, args);
	va_end(args);
	width = jl_utf8_width(text);
	if (p->column > p->indent && p->column + 3 + width > p->cli->width) {
		jl_buf_printf(&p->cli->out, "\n%*s", (int)p->indent, "");
		p->column = p->indent;
	} else if (p->column > p->indent) {
		jl_buf_puts(&p->cli->out, " · ");
		p->column += 3;
	}
	jl_buf_puts(&p->cli->out, text);
	p->column += width;
}

static const char *framework_text(enum jl_framework framework)
{
	static const char *const names[JL_N_FRAMEWORK] = {
		[JL_FW_EAGER] = "PyTorch eager",    [JL_FW_COMPILED] = "PyTorch compiled",
		[JL_FW_MEGATRON] = "Megatron-LM",   [JL_FW_NATIVE] = "native",
		[JL_FW_APEX] = "PyTorch with apex", [JL_FW_GENERAL] = "general"
	};

	return names[framework];
}

void jl_view_case(struct jl_cli *cli, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;
	struct pieces line = { .cli = cli };
	char n[JL_UNITS_TEXT_MAX];

	piece(&line, "%s", c->subject.name);
	piece(&line, "%s", c->machine.sys.text);
	piece(&line, JL_("batch %s a worker"), jl_count_text(n, c->shard.micro_batch * p->n_micro));
	if (p->n_micro > 1)
		piece(&line, JL_("micro-batch %s"), jl_count_text(n, c->shard.micro_batch));
	if (p->dp > 1)
		piece(&line, JL_("global %s"), jl_count_text(n, c->global_batch));
	if (c->subject.kind->has_tokens)
		piece(&line, JL_("sequence %s"), jl_count_text(n, c->shard.seq));
	piece(&line, "%s", jl_dtype_name(c->shard.dtype));
	if (p->zero >= 1 && p->shard > 0)
		piece(&line, "%s %.0f×%.0f", p->zero == 3 ? "HSDP" : "ZeRO-2", p->dp / p->shard, p->shard);
	else if (p->zero == 1 || p->zero == 2)
		piece(&line, "ZeRO-%d %.0f", p->zero, p->dp);
	else if (p->dp > 1)
		piece(&line, p->zero == 3 ? "FSDP %.0f" : "DDP %.0f", p->dp);
	if (p->tp > 1)
		piece(&line, "TP %.0f%s", p->tp, p->sp ? "+SP" : "");
	if (p->pp > 1)
		piece(&line, "PP %.0f%s", p->pp, p->n_chunks > 1 ? JL_(" interleaved") : "");
	if (p->cp > 1)
		piece(&line, "CP %.0f", p->cp);
	if (p->ep > 1)
		piece(&line, "EP %.0f", p->ep);
	if (p->recompute != JL_RECOMPUTE_NONE)
		piece(&line, "%s",
		      p->recompute == JL_RECOMPUTE_FULL ? JL_("full recompute") : JL_("selective recompute"));
	if (p->offload)
		piece(&line, "%s", JL_("offload"));
	piece(&line, "%s", framework_text(c->framework));
	jl_buf_puts(&cli->out, "\n\n");
}

static void time_lines(struct jl_cli *cli, const struct jl_prediction *p)
{
	bool first = true;

	for (size_t n = 0, done = 0; n < JL_N_PART; n++) { /* largest first */
		size_t best = JL_N_PART;
		double frac;
		char bar[3 * JL_BAR_MAX + 1], time[JL_UNITS_TEXT_MAX];
		const char *name;
		size_t width;

		for (size_t i = 0; i < JL_N_PART; i++)
			if (!(done & ((size_t)1 << i)) &&
			    (best == JL_N_PART || jl_part_s(&p->step, i) > jl_part_s(&p->step, best)))
				best = i;
		done |= (size_t)1 << best;
		frac = jl_part_s(&p->step, best) / p->step.step_s;
		if (frac < 0.005)
			break;
		name = jl_msg(jl_parts[best].en);
		width = jl_utf8_width(name);
		jl_view_entry(cli, first ? JL_N("Time") : NULL, "%s %3.0f %%  %s%*s %s", jl_bar_text(bar, frac, 20),
			      100 * frac, name, (int)(width < 18 ? 18 - width : 0), "",
			      jl_units_text(time, jl_part_s(&p->step, best), JL_K_TIME, 2));
		first = false;
	}
}

static const char *gib(char out[JL_UNITS_TEXT_MAX], double bytes)
{
	const double x = bytes / 1073741824.0;

	if (x >= 9.95)
		return jl_count_text(out, floor(x + 0.5));
	snprintf(out, JL_UNITS_TEXT_MAX, "%.1f", x);
	return out;
}

/* What offloading takes of the host's own memory, and whether it has that. */
static void host_memory(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p)
{
	char need[JL_UNITS_TEXT_MAX], has[JL_UNITS_TEXT_MAX];

	if (isnan(c->ram_B))
		jl_view_entry(cli, "Host RAM", JL_("%s GiB a host offloaded; what the host has is not known (--ram)"),
			      gib(need, p->host_B));
	else
		jl_view_entry(cli, "Host RAM", JL_("%s of %s GiB a host offloaded: %s"), gib(need, p->host_B),
			      gib(has, c->ram_B),
			      p->host_B > JL_HOST_RAM_FRAC * c->ram_B ? JL_("does not fit") : JL_("fits"));
}

void jl_view_memory(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p)
{
	const struct jl_memory *m = &p->memory;
	const struct {
		const char *en;
		double bytes;
	} parts[] = {
		{ JL_N("weights"), m->weights_B },     { JL_N("gradients"), m->gradients_B },
		{ JL_N("optimizer"), m->optimizer_B }, { JL_N("activations"), m->activations_B },
		{ JL_N("buffers"), m->buffers_B },     { JL_N("context"), m->context_B },
	};
	char total[JL_UNITS_TEXT_MAX], capacity[JL_UNITS_TEXT_MAX], part[JL_UNITS_TEXT_MAX];
	struct pieces line = { .cli = cli, .indent = 12, .column = 12 };
	const bool device_fits = !(m->total_B > p->capacity_B); /* the host has a line of its own */
	const char *verdict = !device_fits                                 ? JL_("does not fit")
			      : m->total_B > JL_TIGHT_FRAC * p->capacity_B ? JL_("tight, may run out of memory")
									   : JL_("fits");

	if (isnan(p->capacity_B))
		jl_view_entry(cli, "Memory", "%s GiB", gib(total, m->total_B));
	else
		jl_view_entry(cli, "Memory", JL_("%s of %s GiB a %s: %s"), gib(total, m->total_B),
			      gib(capacity, p->capacity_B), jl_view_device(c), verdict);
	jl_buf_printf(&cli->out, "%*s", 12, "");
	if (p->max_micro_batch >= 1)
		piece(&line, JL_("largest micro-batch (%.0f %% free): %s"), 100 * JL_MEMORY_MARGIN_FRAC,
		      jl_count_text(part, p->max_micro_batch));
	else if (p->room == JL_ROOM_TIGHT)
		piece(&line, JL_("one sample leaves less than %.0f %% free"), 100 * JL_MEMORY_MARGIN_FRAC);
	else if (!device_fits)
		piece(&line, "%s", JL_("not even one sample fits"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].bytes >= 0.05e9)
			piece(&line, "%s %s", jl_msg(parts[i].en), gib(part, parts[i].bytes));
	jl_buf_putc(&cli->out, '\n');
	if (p->host_B > 0)
		host_memory(cli, c, p);
}

const char *jl_view_dated(char out[JL_DATED_MAX], const struct jl_cli *cli, const char *date)
{
	const long old_days = 90;
	long day;
	const bool old = date && jl_date_parse(&day, date, NULL) == JL_OK && cli->today - day > old_days;

	jl_format(out, JL_DATED_MAX, "%.40s%s", date ? date : "?", old ? JL_(", old ⚠") : "");
	return out;
}

static void run_lines(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p)
{
	char a[JL_RANGE_TEXT_MAX], b[JL_RANGE_TEXT_MAX], steps[JL_UNITS_TEXT_MAX], watts[JL_UNITS_TEXT_MAX],
		date[JL_DATED_MAX];

	if (p->whole_run) {
		jl_view_entry(cli, "Epoch", JL_("%s for %s step{/s}"), jl_view_range(a, &p->epoch_s, JL_K_TIME),
			      jl_view_value(steps, p->steps_per_epoch, JL_K_NUMBER, false));
		if (c->epochs > 1)
			jl_view_entry(cli, "Run", JL_("%s for %.0f epochs"), jl_view_range(b, &p->run_s, JL_K_TIME),
				      c->epochs);
	}
	if (!isnan(p->power_W))
		jl_view_entry(cli, "Energy", JL_("%s %s, at about %s%s"), jl_view_range(a, &p->energy_J, JL_K_ENERGY),
			      p->whole_run ? JL_("in all") : JL_("a step"),
			      jl_units_text(watts, p->power_W * c->pue, JL_K_POWER, 2), JL_(" with the host"));
	if (!isnan(p->rent.usdps) && p->whole_run)
		jl_view_entry(cli, "Money", JL_("%s; %.2f USD/h a GPU (%s, %s)"),
			      jl_view_range(a, &p->cost_usd, JL_K_USD), p->rent.usdps * 3600, p->rent.provider,
			      jl_view_dated(date, cli, p->rent.date));
	else if (!isnan(p->rent.usdps))
		jl_view_entry(cli, "Money", JL_("%.2f USD/h to rent %d GPU{/s} (%s, %s)"),
			      p->rent.usdps * 3600 * c->n_gpus, c->n_gpus, p->rent.provider,
			      jl_view_dated(date, cli, p->rent.date));
}

/* No single change helps: how many devices would hold the states alone. */
static void nothing_fits(struct jl_cli *cli, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;
	const struct jl_weight weight = jl_case_weigh(c);
	const double states_B = jl_subject_params(&c->subject) * (p->weight_B + p->grad_B + p->optimizer_B);

	if (weight.memory.total_B <= c->machine.dev.mem_B) {
		jl_view_entry(cli, "Try", JL_("a host with %.0f GiB of RAM or more, or less offloaded"),
			      ceil(weight.host_B / JL_HOST_RAM_FRAC / 1073741824.0));
		return;
	}
	jl_view_entry(cli, "Try", JL_("weights and optimizer alone need %.0f such %ss; 'jeoul fit' shows every way"),
		      ceil(states_B / c->machine.dev.mem_B), jl_view_device(c));
}

/* What else is counted: tokens, mel frames; one GPU's share; how much of the listed rate that is. */
static void rate_line(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p)
{
	const char *counted = c->subject.kind->unit(&c->subject);
	const double all = counted ? p->units_per_s.value : p->tokens_per_s.value;
	const char *unit = counted ? counted : JL_("tokens");
	char about[JL_UNITS_TEXT_MAX], total[JL_UNITS_TEXT_MAX];

	jl_view_entry(cli, NULL, JL_("%s %.*s/s, %s a %s · MFU %.2g %%"), jl_about_text(total, all),
		      (int)strcspn(unit, "("), unit, jl_about_text(about, all / c->n_gpus), jl_view_device(c),
		      100 * p->mfu_frac);
}

void jl_view_prediction(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p,
			const struct jl_advice *advice, size_t n_advice)
{
	char step[JL_RANGE_TEXT_MAX], rate[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX];

	jl_view_case(cli, c);
	jl_view_entry(cli, "Step", JL_("%s%s%s   %s samples/s (%s–%s)"), jl_view_bold(cli),
		      jl_view_range(step, &p->step_s, JL_K_TIME), jl_view_reset(cli),
		      jl_about_text(rate, p->samples_per_s.value), jl_about_text(lo, p->samples_per_s.lo),
		      jl_about_text(hi, p->samples_per_s.hi));
	rate_line(cli, c, p);
	time_lines(cli, p);
	jl_view_memory(cli, c, p);
	run_lines(cli, c, p);
	jl_buf_putc(&cli->out, '\n');
	jl_view_bound(cli, c, p);
	jl_view_advice(cli, advice, n_advice);
	if (p->room == JL_ROOM_NONE && n_advice == 0)
		nothing_fits(cli, c);
	jl_view_assumed(cli, c);
}
