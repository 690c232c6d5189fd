/* What bounds a prediction, what would help, how sure it is; and its JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/predict_view.h"
#include "predict/kind.h"

static const char *exchange_path(const struct jl_case *c)
{
	const struct jl_sys *sys = &c->machine.sys;

	if (sys->n_nodes > 1 && sys->net)
		return sys->net->id;
	if (c->machine.fabric.intra_kind == JL_INTRA_PCIE_HOST)
		return JL_("PCIe and host memory (no P2P)");
	return sys->join ? sys->join->id : "?";
}

static void bound_by_compute(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p)
{
	static const struct {
		const char *en;
	} of_network = { JL_N("convolutions take") },
	  kinds[] = { { JL_N("matrix products take") },
		      { JL_N("attention takes") },
		      { JL_N("memory bandwidth (norms, activations, loss) takes") } };
	size_t best = 0;

	for (size_t i = 1; i < 3; i++)
		if (p->kind_frac[i] > p->kind_frac[best])
			best = i;
	jl_view_entry(cli, "Bound by", JL_("compute: %s %.0f %% of it"),
		      best == 1 && !c->subject.kind->has_tokens ? jl_msg(of_network.en) : jl_msg(kinds[best].en),
		      100 * p->kind_frac[best]);
}

/* The input pipeline: what it brings a second, and what could be taken. */
static void bound_by_input(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p)
{
	const double own_s = p->step.step_s - p->step.input_s;
	char brought[JL_UNITS_TEXT_MAX], taken[JL_UNITS_TEXT_MAX], rate[JL_UNITS_TEXT_MAX];

	jl_about_text(brought, c->global_batch / p->input.input_s);
	jl_about_text(taken, c->global_batch / own_s);
	if (p->input.storage_s > p->input.threads_s)
		jl_view_entry(cli, "Bound by",
			      JL_("input: storage of %s a host brings %s samples/s; the %ss could take %s"),
			      jl_units_text(rate, c->input.storage_Bps, JL_K_BYTE_RATE, 3), brought, jl_view_device(c),
			      taken);
	else
		jl_view_entry(cli, "Bound by",
			      JL_("input: %.0f CPU threads a host prepare %s samples/s; the %ss could take %s"),
			      c->input.n_threads, brought, jl_view_device(c), taken);
}

void jl_view_bound(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p)
{
	const size_t part = jl_part_largest(&p->step);
	char size[JL_UNITS_TEXT_MAX];
	const char *key = jl_parts[part].key;

	if (p->step.input_s > 0) /* the step ends when its input has come, however small the wait is */
		bound_by_input(cli, c, p);
	else if (strcmp(key, "compute") == 0)
		bound_by_compute(cli, c, p);
	else if (strcmp(key, "data_parallel") == 0)
		jl_view_entry(cli, "Bound by", JL_("gradient exchange: %s a step over %s"),
			      jl_units_text(size, p->reduced_B, JL_K_BYTES, 3), exchange_path(c));
	else if (strcmp(key, "host_launch") == 0)
		jl_view_entry(cli, "Bound by", "%s",
			      JL_("the host: it launches kernels more slowly than the GPU runs them"));
	else
		jl_view_entry(cli, "Bound by", "%s", jl_msg(jl_parts[part].en));
}

static void advice_line(struct jl_cli *cli, const struct jl_advice *a, size_t n, size_t room)
{
	const char *text = a->text;
	const size_t width = jl_utf8_width(text);
	char before[JL_UNITS_TEXT_MAX], after[JL_UNITS_TEXT_MAX], gain[160];
	const char *const fmt = n == 1 ? JL_N("Try") : NULL;

	if (a->makes_it_fit)
		jl_format(gain, sizeof(gain), JL_("fits; %s samples/s"), jl_about_text(after, a->samples_per_s_after));
	else if (!isnan(a->alone_samples_per_s))
		jl_format(gain, sizeof(gain), JL_("%d GPUs: %.2gx → %.2gx"), a->n_gpus,
			  a->samples_per_s_before / a->alone_samples_per_s,
			  a->samples_per_s_after / a->alone_samples_per_s);
	else
		jl_format(gain, sizeof(gain), JL_("%s → %s samples/s"), jl_about_text(before, a->samples_per_s_before),
			  jl_about_text(after, a->samples_per_s_after));
	if (!a->makes_it_fit &&
	    fabs(a->samples_per_s_after / a->samples_per_s_before * a->step_s_after / a->step_s_before - 1) < 1e-9 &&
	    isnan(a->alone_samples_per_s))
		jl_format(gain, sizeof(gain), JL_("step %+.0f %%, %s samples/s"),
			  100 * (a->step_s_after / a->step_s_before - 1), jl_about_text(after, a->samples_per_s_after));
	jl_view_entry(cli, fmt, "%zu  %s%*s  %s", n, text, (int)(width < room ? room - width : 0), "", gain);
}

void jl_view_advice(struct jl_cli *cli, const struct jl_advice *advice, size_t n_advice)
{
	size_t room = 35; /* gains stand below each other */

	for (size_t i = 0; i < n_advice; i++) {
		const size_t width = jl_utf8_width(advice[i].text);

		room = width > room ? width : room;
	}
	for (size_t i = 0; i < n_advice; i++)
		advice_line(cli, &advice[i], i + 1, room);
}

/* Would the command that runs have taken it? */
static bool takes(struct jl_cli *cli, const char *key)
{
	const char *const *options = jl_view_options(cli);

	for (size_t i = 0; options && options[i]; i++)
		if (strcmp(options[i], key) == 0)
			return true;
	return false;
}

void jl_view_assumed(struct jl_cli *cli, const struct jl_case *c)
{
	struct jl_buf list;

	jl_buf_printf(&cli->out, "  %s", jl_view_dim(cli));
	jl_buf_puts(&cli->out, JL_("⚠ estimated; 80 % intervals, checked on published runs (jeoul validate)."));
	jl_buf_printf(&cli->out, "%s\n", jl_view_reset(cli));
	jl_buf_init(&list, 16384);
	for (size_t i = 0; i < c->notes.n; i++) {
		const struct jl_note *note = &c->notes.items[i];

		jl_buf_printf(&list, "%s%s", i ? "; " : "", note->text);
		if (takes(cli, note->key))
			jl_buf_printf(&list, " (--%s)", note->key);
	}
	jl_view_wrapped(cli, 2, JL_("Assumed"), jl_buf_text(&list));
	jl_buf_release(&list);
}

void jl_view_estimate_json(struct jl_json *json, const char *key, const struct jl_estimate *e)
{
	jl_json_put_object(json, key);
	jl_json_put_number(json, "value", e->value);
	jl_json_put_number(json, "lo", e->lo);
	jl_json_put_number(json, "hi", e->hi);
	jl_json_end_object(json);
}

static const char *recompute_name(enum jl_recompute recompute)
{
	static const char *const names[JL_N_RECOMPUTE] = { "none", "selective", "full" };

	return names[recompute];
}

void jl_view_case_json(struct jl_json *json, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;
	const struct {
		const char *key;
		double value;
	} numbers[] = {
		{ "n_gpus", c->n_gpus },
		{ "micro_batch", c->shard.micro_batch },
		{ "accumulate", p->n_micro },
		{ "global_batch", c->global_batch },
		{ "seq", c->shard.seq },
	}, degrees[] = {
		{ "dp", p->dp }, { "tp", p->tp }, { "sp", p->sp },       { "pp", p->pp },
		{ "vpp", p->n_chunks }, { "cp", p->cp }, { "ep", p->ep }, { "zero", p->zero },
		{ "shard", p->shard > 0 ? p->shard : p->dp * p->cp },
	};

	jl_json_put_string(json, "model", c->subject.id);
	jl_json_put_number(json, "params", jl_subject_params(&c->subject));
	jl_json_put_string(json, "system", c->machine.sys.text);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		jl_json_put_number(json, numbers[i].key, numbers[i].value);
	jl_json_put_string(json, "precision", jl_dtype_name(c->shard.dtype));
	jl_json_put_string(json, "framework", jl_framework_name(c->framework));
	jl_json_put_string(json, "recompute", recompute_name(p->recompute));
	jl_json_put_bool(json, "flash", c->shard.flash);
	jl_json_put_object(json, "parallel");
	for (size_t i = 0; i < sizeof(degrees) / sizeof(*degrees); i++)
		jl_json_put_number(json, degrees[i].key, degrees[i].value);
	jl_json_end_object(json);
	jl_json_put_array(json, "offload");
	if (p->offload & JL_OFFLOAD_OPTIMIZER)
		jl_json_string(json, "optimizer");
	if (p->offload & JL_OFFLOAD_PARAMS)
		jl_json_string(json, "params");
	if (p->offload & JL_OFFLOAD_ACTIVATIONS)
		jl_json_string(json, "activations");
	jl_json_end_array(json);
}

static void memory_json(struct jl_json *json, const struct jl_prediction *p)
{
	const struct jl_memory *m = &p->memory;

	jl_json_put_object(json, "memory_B");
	jl_json_put_number(json, "weights", m->weights_B);
	jl_json_put_number(json, "gradients", m->gradients_B);
	jl_json_put_number(json, "optimizer", m->optimizer_B);
	jl_json_put_number(json, "activations", m->activations_B);
	jl_json_put_number(json, "buffers", m->buffers_B);
	jl_json_put_number(json, "context", m->context_B);
	jl_json_put_number(json, "total", m->total_B);
	jl_json_put_number(json, "capacity", p->capacity_B);
	jl_json_end_object(json);
}

/* What the input pipeline needs a step, hidden or not. */
static void input_json(struct jl_json *json, const struct jl_case *c, const struct jl_prediction *p)
{
	jl_json_put_object(json, "input");
	jl_json_put_string(json, "kind", jl_input_name(c->input.kind));
	jl_json_put_number(json, "threads_s", p->input.threads_s);
	jl_json_put_number(json, "storage_s", p->input.storage_s);
	jl_json_put_number(json, "cpu_threads", c->input.n_threads);
	jl_json_put_number(json, "storage_Bps", c->input.storage_Bps);
	jl_json_put_number(json, "sample_B", c->input.sample_B);
	jl_json_put_number(json, "decode_s", c->input.sample_s);
	jl_json_end_object(json);
}

void jl_view_prediction_json(struct jl_json *json, const struct jl_case *c, const struct jl_prediction *p)
{
	static const char *const rooms[] = { "fits", "tight", "no" };

	jl_view_estimate_json(json, "step_s", &p->step_s);
	jl_view_estimate_json(json, "samples_per_s", &p->samples_per_s);
	jl_view_estimate_json(json, "tokens_per_s", &p->tokens_per_s);
	jl_view_estimate_json(json, "tokens_per_s_per_gpu", &p->tokens_per_s_per_gpu);
	if (c->subject.kind->unit(&c->subject)) {
		jl_view_estimate_json(json, "units_per_s", &p->units_per_s);
		jl_json_put_string(json, "unit", c->subject.kind->unit(&c->subject));
	}
	jl_json_put_number(json, "mfu_frac", p->mfu_frac);
	jl_json_put_object(json, "breakdown_s");
	for (size_t i = 0; i < JL_N_PART; i++)
		jl_json_put_number(json, jl_parts[i].key, jl_part_s(&p->step, i));
	jl_json_end_object(json);
	memory_json(json, p);
	if (p->host_B > 0) {
		jl_json_put_object(json, "host_memory_B");
		jl_json_put_number(json, "offloaded", p->host_B);
		jl_json_put_number(json, "capacity", c->ram_B);
		jl_json_end_object(json);
	}
	jl_json_put_bool(json, "fits", p->room != JL_ROOM_NONE);
	jl_json_put_string(json, "room", rooms[p->room]);
	jl_json_put_number(json, "max_micro_batch", p->max_micro_batch);
	jl_json_put_string(json, "bound_by", p->step.input_s > 0 ? "input" : jl_parts[jl_part_largest(&p->step)].key);
	input_json(json, c, p);
	if (p->whole_run) {
		jl_json_put_number(json, "steps_per_epoch", p->steps_per_epoch);
		jl_view_estimate_json(json, "epoch_s", &p->epoch_s);
		jl_view_estimate_json(json, "run_s", &p->run_s);
	}
	jl_json_put_string(json, "scope", p->whole_run ? "run" : "step"); /* of energy and cost */
	jl_view_estimate_json(json, "energy_J", &p->energy_J);
	jl_json_put_number(json, "power_W", p->power_W * c->pue);
	jl_json_put_number(json, "host_power_W", c->machine.host_idle_W * c->machine.sys.n_nodes);
	jl_view_estimate_json(json, "cost_usd", &p->cost_usd);
	if (!isnan(p->rent.usdps)) {
		jl_json_put_object(json, "rent");
		jl_json_put_number(json, "gpu_usdps", p->rent.usdps);
		jl_json_put_string(json, "provider", p->rent.provider);
		jl_json_put_string(json, "item", p->rent.item);
		jl_json_put_string(json, "date", p->rent.date);
		jl_json_end_object(json);
	}
}

void jl_view_advice_json(struct jl_json *json, const struct jl_advice *advice, size_t n_advice)
{
	jl_json_put_array(json, "advice");
	for (size_t i = 0; i < n_advice; i++) {
		const struct jl_advice *a = &advice[i];

		jl_json_object(json);
		jl_json_put_string(json, "change", a->key);
		jl_json_put_string(json, "text", a->en);
		jl_json_put_integer(json, "n_gpus", a->n_gpus);
		jl_json_put_number(json, "gain_frac", a->samples_per_s_after / a->samples_per_s_before - 1);
		jl_json_put_number(json, "samples_per_s_before", a->samples_per_s_before);
		jl_json_put_number(json, "samples_per_s_after", a->samples_per_s_after);
		jl_json_put_number(json, "step_s_before", a->step_s_before);
		jl_json_put_number(json, "step_s_after", a->step_s_after);
		jl_json_put_number(json, "global_batch", a->global_batch);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

void jl_view_assumed_json(struct jl_json *json, const struct jl_case *c)
{
	jl_json_put_array(json, "assumptions");
	for (size_t i = 0; i < c->notes.n; i++) {
		jl_json_object(json);
		jl_json_put_string(json, "option", c->notes.items[i].key);
		jl_json_put_string(json, "why", c->notes.items[i].en);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}
