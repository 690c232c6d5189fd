#include "cli/this_machine.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/find.h"
#include "check/own_params.h"
#include "cli/calibrate_this.h"

#define WORD "this"

/* Where `this` stands as a word of its own; NULL: nowhere. */
static const char *find_word(const char *text)
{
	for (const char *at = text; (at = strstr(at, WORD)) != NULL; at++) {
		char before = at == text ? ' ' : at[-1], after = at[strlen(WORD)];

		if ((before == ' ' || before == '(') && (after == ' ' || after == ')' || after == '\0'))
			return at;
	}
	return NULL;
}

enum jl_status jl_this_machine_probe(struct jl_cli *cli, const struct jl_probe_machine **ret_machine,
				     struct jl_err *err)
{
	const char *captured = getenv("JEOUL_MACHINE");
	struct jl_probe_source *source = NULL;
	enum jl_status status = captured && *captured ? jl_source_replay(&source, captured, &cli->arena, err)
						      : jl_source_live(&source, &cli->arena, err);

	if (!status)
		status = jl_probe_machine(source, cli->cat, NULL, &cli->arena, ret_machine, err);
	jl_source_destroy(source);
	return status;
}

/* Where it was calibrated, its own parameters lie over the catalog, and a CPU alone is a device. The first time
 * that is said. */
static enum jl_status lay_own(struct jl_cli *cli, const struct jl_probe_machine *machine, const char **io_system,
			      struct jl_err *err)
{
	const bool said = jl_source_by_id(cli->cat, JL_OWN_SOURCE_ID) != NULL;
	const struct jl_source *source;
	bool on;
	enum jl_status status = jl_calibrate_lay(&on, cli, machine, err);

	if (status || !on)
		return status;
	if (machine->n_gpus == 0 && jl_cpu_by_id(cli->cat, JL_OWN_CPU_ID))
		*io_system = "cpu:" JL_OWN_CPU_ID;
	source = jl_source_by_id(cli->cat, JL_OWN_SOURCE_ID);
	if (!said && !cli->json && source)
		jl_buf_printf(&cli->out,
			      JL_T(cli->lang, "✅ this: %s, measured here on %s\n", "✅ this: %s, %s에 여기서 잰 값\n"),
			      JL_T(cli->lang, machine->short_name, machine->short_name_ko), source->date);
	return JL_OK;
}

enum jl_status jl_this_machine(struct jl_cli *cli, const char *text, const char **ret_text, struct jl_err *err)
{
	const struct jl_probe_machine *machine = NULL;
	const char *word = text ? find_word(text) : NULL;
	const char *cpu, *system;
	char *whole;
	enum jl_status status;

	if (!word) {
		*ret_text = text;
		return JL_OK;
	}
	status = jl_this_machine_probe(cli, &machine, err);
	if (status)
		return status;
	system = machine->system;
	status = lay_own(cli, machine, &system, err);
	if (status)
		return status;
	cpu = machine->listed_cpu ? machine->listed_cpu->id : "i9-13900k";
	if (!system && machine->n_gpus == 0)
		return jl_fail(
			err, JL_E_ABSENT,
			"this machine (%s%.0s) has no GPU to predict for; name a system, e.g. --on rtx-4090 or --on "
			"cpu:%s",
			"이 장비(%.0s%s)에는 예측할 GPU가 없습니다. 시스템을 쓰세요. 예: --on rtx-4090, --on cpu:%s",
			machine->short_name, machine->short_name_ko, cpu);
	if (!system)
		return jl_fail(err, JL_E_ABSENT, "this machine (%s%.0s) cannot stand in a system: %s%.0s",
			       "이 장비(%.0s%s)를 시스템으로 쓸 수 없습니다: %.0s%s", machine->short_name,
			       machine->short_name_ko, machine->system_why_en, machine->system_why_ko);
	/* alone, or inside parentheses that are there already, it needs none */
	if (word == text && !word[strlen(WORD)])
		whole = jl_arena_strdup(&cli->arena, system);
	else
		whole = jl_arena_printf(&cli->arena, word > text && word[-1] == '(' ? "%.*s%s%s" : "%.*s(%s)%s",
					(int)(word - text), text, system, word + strlen(WORD));
	if (!whole)
		return jl_fail_nomem(err);
	*ret_text = whole;
	return JL_OK;
}

enum jl_status jl_this_machine_args(struct jl_cli *cli, struct jl_err *err)
{
	static const char *const names[] = { "on", "baseline" };
	enum jl_status status = JL_OK;

	for (size_t i = 0; !status && i < cli->args.n_given; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			if (cli->args.given[i].text && strcmp(cli->args.given[i].option->name, names[k]) == 0) {
				status = jl_this_machine(cli, cli->args.given[i].text, &cli->args.given[i].text, err);
				break;
			}
	return status;
}
