/* jeoul build: is this parts list sound? */
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/build_upgrade.h"
#include "cli/view.h"
#include "build/findings.h"

/* clang-format off */
#define PART(n, a, e) { .name = n, .type = JL_OPT_TEXT, .arg = a, .en = e }
const struct jl_option jl_build_options[] = {
	PART("gpu", "CARDS", JL_N("the cards: \"2x rtx-3090\"")),
	PART("gpu-power-limit", "POWER", JL_N("power limit that is set on each card")),
	PART("gpu-slots", "N", JL_N("thickness of this maker's card in slots")),
	PART("gpu-length", "LENGTH", JL_N("length of this maker's card")),
	PART("gpu-8pin", "N", JL_N("8-pin connectors of this maker's card")),
	PART("cooling", "open-air|blower|water|passive", JL_N("how the cards are cooled")),
	PART("psu", "POWER", JL_N("power supply: \"1600 W\"")),
	PART("psu-count", "N", JL_N("how many of it")),
	PART("psu-8pin", "N", JL_N("its 8-pin PCIe cables")),
	PART("psu-12vhpwr", "N", JL_N("its 12VHPWR cables")),
	PART("psu-atx3", "yes|no", JL_N("ATX 3.x: bears short peaks")),
	PART("board", "NAME", JL_N("board")),
	PART("board-x16-slots", "N", JL_N("its slots for cards")),
	PART("board-spacing", "N", JL_N("slots from one of them to the next")),
	PART("board-lanes-per-gpu", "N", JL_N("lanes of each card when all are used")),
	PART("board-pcie", "GEN", JL_N("PCIe generation")),
	PART("cpu", "NAME", JL_N("CPU")),
	PART("cpu-power", "POWER", JL_N("its power")),
	PART("cpu-threads", "N", JL_N("its threads")),
	PART("cpu-lanes", "N", JL_N("its PCIe lanes")),
	PART("input", "while-training|before-training", JL_N("when data is prepared")),
	PART("ram", "BYTES", JL_N("RAM: \"64 GiB\"")),
	PART("ssd", "BYTES", JL_N("SSD")),
	PART("hdd", "BYTES", JL_NC("option", "disks")),
	PART("data", "BYTES", JL_N("the data that is trained on")),
	PART("case", "NAME", JL_N("case")),
	PART("case-slots", "N", JL_N("its expansion openings")),
	PART("case-gpu-length", "LENGTH", JL_N("longest card that it takes")),
	PART("circuit-volts", "V", JL_N("wall circuit: volts")),
	PART("circuit-amperes", "A", JL_N("wall circuit: breaker")),
	PART("nvlink", "yes|no", JL_N("a bridge is planned")),
	PART("upgrade", "SYSTEM", JL_N("instead: what to buy next for this system, or 'this'")),
	{ .name = "budget", .type = JL_OPT_QUANTITY, .kind = JL_K_USD, .arg = "USD", .en = JL_N("with --upgrade: at most this much, e.g. \"500 USD\"") },
	{ .name = "bridge-price", .type = JL_OPT_QUANTITY, .kind = JL_K_USD, .arg = "USD", .en = JL_N("with --upgrade: price of one NVLink bridge") },
	PART("model", "MODEL", JL_N("with --upgrade: what is trained (default: gpt-305m)")),
	JL_ASK_COUNT("batch", JL_N("with --upgrade: samples of one worker (default: 4)")),
	JL_ASK_COUNT("seq", JL_N("with --upgrade: tokens of a sample (default: 512)")),
	{ 0 },
};
/* clang-format on */

/* Options are the keys of a parts list with dashes; false: not one of them. */
static bool part_key(char ret_key[48], const char *option)
{
	snprintf(ret_key, 48, "%s", option);
	for (char *at = ret_key; (at = strchr(at, '-'));)
		*at = '_';
	for (size_t k = 0; jl_rig_keys[k]; k++)
		if (strcmp(jl_rig_keys[k], ret_key) == 0)
			return true;
	return false;
}

static enum jl_status read_flags(struct jl_rig *rig, struct jl_cli *cli, struct jl_err *err)
{
	for (size_t i = 0; i < cli->args.n_given; i++) {
		const struct jl_given *g = &cli->args.given[i];
		const struct jl_where nowhere = { 0 };
		char key[48];
		enum jl_status status;

		if (!part_key(key, g->option->name))
			continue;
		if ((status = jl_rig_set(rig, key, g->text, &nowhere, cli->cat, &cli->arena, err)))
			return status;
	}
	return JL_OK;
}

static const char *mark(enum jl_part_level level)
{
	static const char *const marks[JL_N_PART_LEVEL] = { "✅", "❓", "⚖", "⚠", "❌" };

	return marks[level];
}

static size_t count(const struct jl_part_findings *found, enum jl_part_level level)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++)
		n += found->items[i].level == level;
	return n;
}

static void one_finding(struct jl_cli *cli, const struct jl_part_finding *f)
{
	char sources[160] = "";

	for (size_t i = 0; i < JL_PART_RULES_MAX && f->rules[i]; i++)
		if (!strstr(sources, f->rules[i]->source))
			snprintf(sources + strlen(sources), sizeof sources - strlen(sources), "%s%s",
				 *sources ? ", " : "", f->rules[i]->source);
	jl_view_wrapped(cli, 2, jl_arena_printf(&cli->arena, "%s %s", mark(f->level), f->id),
			jl_arena_printf(&cli->arena, "%s [%s%s%s]", f->text, jl_msg(jl_part_sure_name(f->sure)),
					*sources ? "; " : "", sources));
}

static void view(struct jl_cli *cli, const struct jl_rig *rig, const struct jl_part_findings *found)
{
	const size_t n_wrong = count(found, JL_PART_ERROR), n_warn = count(found, JL_PART_WARNING);

	jl_buf_printf(&cli->out, "%s%s: ", jl_view_bold(cli), rig->name ? rig->name : rig->gpu->name);
	if (n_wrong)
		jl_buf_printf(&cli->out, JL_("does not work as it is (%zu wrong, %zu warning{/s})"), n_wrong, n_warn);
	else if (n_warn)
		jl_buf_printf(&cli->out, JL_("works, with %zu warning{/s}"), n_warn);
	else
		jl_buf_puts(&cli->out, JL_("sound, as far as it was described"));
	jl_buf_printf(&cli->out, "%s\n", jl_view_reset(cli));
	jl_buf_printf(&cli->out, JL_("  %.0f W under load; the rules ask for a supply of %.0f to %.0f W\n\n"),
		      found->load_W, found->psu_least_W, found->psu_most_W);
	for (int level = JL_N_PART_LEVEL - 1; level >= 0; level--)
		for (size_t i = 0; i < found->n; i++)
			if (found->items[i].level == (enum jl_part_level)level)
				one_finding(cli, &found->items[i]);
}

static void view_json(struct jl_cli *cli, const struct jl_rig *rig, const struct jl_part_findings *found)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "name", rig->name);
	jl_json_put_string(&json, "gpu", rig->gpu->id);
	jl_json_put_integer(&json, "n_gpus", rig->n_gpus);
	jl_json_put_number(&json, "load_W", found->load_W);
	jl_json_put_number(&json, "psu_least_W", found->psu_least_W);
	jl_json_put_number(&json, "psu_most_W", found->psu_most_W);
	jl_json_put_array(&json, "findings");
	for (size_t i = 0; i < found->n; i++) {
		const struct jl_part_finding *f = &found->items[i];

		jl_json_object(&json);
		jl_json_put_string(&json, "id", f->id);
		jl_json_put_string(&json, "level", jl_part_level_key(f->level));
		jl_json_put_string(&json, "text", f->en);
		jl_json_put_string(&json, "sure", jl_part_sure_name(f->sure));
		jl_json_put_array(&json, "rules");
		for (size_t r = 0; r < JL_PART_RULES_MAX && f->rules[r]; r++) {
			jl_json_object(&json);
			jl_json_put_string(&json, "id", f->rules[r]->id);
			jl_json_put_string(&json, "value", f->rules[r]->value);
			jl_json_put_string(&json, "source", f->rules[r]->source);
			jl_json_put_string(&json, "date", f->rules[r]->date);
			jl_json_end_object(&json);
		}
		jl_json_end_array(&json);
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

/* A parts list, or what to buy next for a system: options of the one say nothing about the other. */
static enum jl_status check_mode(const struct jl_cli *cli, struct jl_err *err)
{
	static const char *const of_upgrade[] = { "budget", "bridge-price", "model", "batch", "seq" };
	const bool upgrade = jl_given(cli, "upgrade") != NULL;
	char key[48];

	for (size_t i = 0; upgrade && i < cli->args.n_given; i++)
		if (part_key(key, cli->args.given[i].option->name))
			return jl_fail(
				err, JL_E_USAGE,
				"--%s describes a parts list; --upgrade takes its system from its own words, e.g. "
				"--upgrade \"2x rtx-3090\"",
				cli->args.given[i].option->name);
	if (upgrade && cli->args.n_operands)
		return jl_fail(err, JL_E_USAGE, "a parts list ('%s') or --upgrade, not both", cli->args.operands[0]);
	for (size_t i = 0; !upgrade && i < sizeof of_upgrade / sizeof of_upgrade[0]; i++)
		if (jl_given(cli, of_upgrade[i]))
			return jl_fail(err, JL_E_USAGE, "--%s goes with --upgrade", of_upgrade[i]);
	return JL_OK;
}

enum jl_status jl_cmd_build(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_part_findings *found = jl_arena_alloc(&cli->arena, sizeof *found);
	struct jl_rig rig = jl_rig_empty();
	enum jl_status status;

	if (!found)
		return jl_fail_nomem(err);
	if ((status = check_mode(cli, err)))
		return status;
	if (jl_text(cli, "upgrade"))
		return jl_build_upgrade(cli, err);
	if (cli->args.n_operands) {
		const struct jl_yaml *root;

		if ((status = jl_yaml_read_file(&root, cli->args.operands[0], &cli->arena, err)) ||
		    (status = jl_rig_read(&rig, root, cli->cat, &cli->arena, err)))
			return status;
	}
	if ((status = read_flags(&rig, cli, err)))
		return status;
	if (!rig.gpu)
		return jl_fail(err, JL_E_USAGE,
			       "name a parts list or its cards, e.g. --gpu \"2x rtx-3090\" --psu \"1600 W\"");
	jl_rig_check(found, &rig, cli->cat);
	if (cli->json)
		view_json(cli, &rig, found);
	else
		view(cli, &rig, found);
	cli->exit_code = count(found, JL_PART_ERROR) ? 3 : 0;
	return JL_OK;
}
