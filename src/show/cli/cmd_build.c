/* jeoul build: checks a parts list, or ranks upgrades. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/this_machine.h"
#include "cli/view.h"
#include "build/answer.h"

/* clang-format off */
#define PART(n, a, ...) JL_O_TEXT(n, a, __VA_ARGS__)
const struct jl_option jl_build_options[] = {
	PART("gpu", "CARDS", JL_N("the cards: \"2x rtx-3090\"")),
	PART("gpu-power-limit", "POWER", JL_N("power limit that is set on each card")),
	PART("gpu-slots", "N", JL_N("thickness of this maker's card in slots")),
	PART("gpu-length", "LENGTH", JL_N("length of this maker's card")),
	PART("gpu-8pin", "N", JL_N("8-pin connectors of this maker's card")),
	PART("cooling", "open-air|blower|water|passive", JL_N("how the cards are cooled")),
	PART("psu", "POWER|NAME", JL_N("power supply: \"1600 W\", or a model: \"Seasonic TX-1600\"")),
	PART("psu-peak", "POWER", JL_N("peak power that it tolerates for a moment")),
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
	JL_O_TEXT("budget", "MONEY", JL_N("with --upgrade: at most this much, e.g. \"500 USD\", or 70만원"), .with = "upgrade"),
	JL_O_AMOUNT("fx", "N", JL_K_NUMBER, JL_N("won for one dollar"), .with = "upgrade", JL_WITHIN(1, 1e6, JL_N("must be the won for one dollar, e.g. 1400"))),
	JL_O_AMOUNT("bridge-price", "USD", JL_K_USD, JL_N("with --upgrade: price of one NVLink bridge"), .with = "upgrade", JL_WITHIN(0, 1e9, JL_N("must not be below zero"))),
	PART("model", "MODEL", JL_N("with --upgrade: what is trained (default: gpt-305m)"), .with = "upgrade"),
	JL_ASK_COUNT("batch", JL_N("with --upgrade: samples of one worker (default: 4)"), .with = "upgrade", JL_TO(jl_request, batch)),
	JL_ASK_COUNT("seq", JL_N("with --upgrade: tokens of a sample (default: 512)"), .with = "upgrade", JL_TO(jl_request, seq)),
	{ 0 },
};
/* clang-format on */

/* Converts an option to its key in a parts list; false: not such an option. */
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

		if (!part_key(key, g->option->name))
			continue;
		JL_TRY(jl_rig_set(rig, key, g->text, &nowhere, cli->cat, &cli->arena, err));
	}
	return JL_OK;
}

static enum jl_status upgrade(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_upgrades *found = jl_arena_alloc(&cli->arena, sizeof *found);
	struct jl_upgrade_ask ask = { .system = jl_text(cli, "upgrade"),
				      .run = jl_request_empty(),
				      .budget_usd = NAN,
				      .bridge_usd = jl_value(cli, "bridge-price") };
	struct jl_upgrade_answer answer = { &ask, found, NAN, NULL };
	enum jl_status status;
	bool won = false;

	JL_TRY(jl_got(found, err));
	ask.run.model = jl_text(cli, "model") ? jl_text(cli, "model") : "gpt-305m";
	ask.run.batch = 4;
	ask.run.seq = jl_text(cli, "model") ? NAN : 512;
	JL_READ(&ask.run, jl_request, cli);
	JL_TRY(jl_ask_budget(&ask.budget_usd, &won, cli, err));
	if (won) {
		answer.krw_per_usd = jl_ask_krw_per_usd(cli);
		answer.fx_date = jl_ask_fx_date(cli);
	}
	status = jl_this_machine(cli, ask.system, &ask.system, err);
	JL_THEN(status, jl_upgrades_find(found, &ask, cli->cat, &cli->arena, err));
	JL_TRY(status);
	JL_ANSWER(cli, err, &jl_upgrade_fields, &answer, jl_show_upgrades(&doc, &answer, cli->today));
}

/* Rejects options of --upgrade for a parts list, and vice versa. */
static enum jl_status check_mode(const struct jl_cli *cli, struct jl_err *err)
{
	const bool upgrade = jl_given(cli, "upgrade") != NULL;
	char key[48];

	for (size_t i = 0; upgrade && i < cli->args.n_given; i++)
		if (part_key(key, cli->args.given[i].option->name))
			return jl_fail(err, JL_E_USAGE,
				       "--%s describes a parts list; --upgrade takes its system from its own words, "
				       "e.g. --upgrade \"2x rtx-3090\"",
				       cli->args.given[i].option->name);
	if (upgrade && cli->args.n_operands)
		return jl_fail(err, JL_E_USAGE, "a parts list ('%s') or --upgrade, not both", cli->args.operands[0]);
	return JL_OK;
}

enum jl_status jl_cmd_build(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_part_findings *found = jl_arena_alloc(&cli->arena, sizeof *found);
	struct jl_rig rig = jl_rig_empty();
	const struct jl_build_answer answer = { &rig, found };

	JL_TRY(jl_got(found, err));
	JL_TRY(check_mode(cli, err));
	if (jl_text(cli, "upgrade"))
		return upgrade(cli, err);
	if (cli->args.n_operands) {
		const struct jl_yaml *root;

		JL_TRY(jl_yaml_read_file(&root, cli->args.operands[0], &cli->arena, err));
		JL_TRY(jl_rig_read(&rig, root, cli->cat, &cli->arena, err));
	}
	JL_TRY(read_flags(&rig, cli, err));
	if (!rig.gpu)
		return jl_fail(err, JL_E_USAGE,
			       "name a parts list or its cards, e.g. --gpu \"2x rtx-3090\" --psu \"1600 W\"");
	jl_rig_check(found, &rig, cli->cat);
	cli->exit_code = jl_build_count(found, JL_PART_ERROR) ? 3 : 0;
	JL_ANSWER(cli, err, &jl_build_fields, &answer, jl_show_build(&doc, &answer, true));
}
