/* Replaces `this` by the machine that the program runs on. */
#include "cli/this_machine.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/find.h"
#include "check/own_params.h"
#include "cli/calibrate_this.h"
#include "cli/view.h"
#include "store/store.h"
#include "check/machine_parts.h"

#define WORD        "this"
#define RECORDS_MAX 4000

/* Finds `this` as a whole word; NULL: none. */
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

	JL_THEN(status, jl_probe_machine(source, cli->cat, NULL, &cli->arena, ret_machine, err));
	jl_source_destroy(source);
	return status;
}

enum jl_status jl_this_records(const struct jl_record *const **ret_list, size_t *ret_n, struct jl_cli *cli,
			       const char *fingerprint, size_t limit, struct jl_err *err)
{
	const struct jl_store_filter filter = { .machine = fingerprint, .origin = "measured", .limit = limit };
	const char *where = jl_text(cli, "store");
	const struct jl_record *records = NULL, **list;
	struct jl_store *store = NULL;
	size_t n = 0;
	enum jl_status status = jl_store_open_to_read(&store, where, err);

	JL_THEN(status, jl_store_list(store, &filter, &cli->arena, &records, &n, err));
	jl_store_close(store);
	JL_TRY(status);
	list = jl_arena_array(&cli->arena, n + 1, sizeof(*list));
	JL_TRY(jl_got(list, err));
	for (size_t i = 0; i < n; i++)
		list[i] = &records[i];
	*ret_list = list;
	*ret_n = n;
	return JL_OK;
}

/* Appends this machine's CPU and its source to the command's catalog. */
static enum jl_status add_cpu(struct jl_cli *cli, const struct jl_own_cpu *own, const char *title, struct jl_err *err)
{
	struct jl_catalog *cat = jl_arena_alloc(&cli->arena, sizeof(*cat));
	struct jl_cpu *cpus = jl_arena_array(&cli->arena, cli->cat->n_cpus + 1, sizeof(*cpus));
	struct jl_source *sources = jl_arena_array(&cli->arena, cli->cat->n_sources + 1, sizeof(*sources));
	const char *date = jl_arena_strdup(&cli->arena, jl_date_text(JL_TXT, cli->today)),
		   *note = jl_arena_strdup(&cli->arena, own->note.en);

	JL_TRY(jl_got(cat && cpus && sources && date && note, err));
	*cat = *cli->cat;
	memcpy(cpus, cat->cpus, cat->n_cpus * sizeof(*cpus));
	memcpy(sources, cat->sources, cat->n_sources * sizeof(*sources));
	cpus[cat->n_cpus] = own->cpu;
	cpus[cat->n_cpus++].date = date;
	sources[cat->n_sources++] = (struct jl_source){ .id = JL_OWN_SOURCE_ID,
							.title = title,
							.date = date,
							.origin = own->measured ? JL_MEASURED : JL_ESTIMATED,
							.note = note };
	cat->cpus = cpus;
	cat->sources = sources;
	cli->cat = cat;
	return JL_OK;
}

/* Uses the CPU as the device if there are no usable GPUs. */
static enum jl_status lay_cpu(struct jl_this *this, struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_probe_machine *machine = this->machine;
	struct jl_own_ask ask = { .cat = cli->cat, .here = machine };
	struct jl_own_cpu own;
	struct jl_bitext more;

	/* a missing or unreadable store counts as empty */
	(void)jl_this_records(&ask.records, &ask.n_records, cli, machine->fingerprint, RECORDS_MAX, NULL);
	jl_own_cpu(&own, &ask);
	if (!jl_cpu_by_id(cli->cat, JL_OWN_CPU_ID))
		JL_TRY(add_cpu(cli, &own, machine->short_name, err));
	this->system = "cpu:" JL_OWN_CPU_ID;
	this->measured = own.measured;
	this->note = own.note;
	if (!own.measured) {
		jl_bitext_print(&more, own.noisy
					       ? JL_N("; `jeoul bench all --quick` measures it once nothing else runs "
						      "here (it was disturbed)")
					       : JL_N("; `jeoul bench all --quick` measures it"));
		jl_finding_join(&this->note, &more);
	}
	if (machine->n_gpus) { /* reason for not using the GPUs */
		more = this->note;
		jl_bitext_print(&this->note, "its CPU alone, because {%s}; ", machine->system_why_en);
		jl_finding_join(&this->note, &more);
	}
	return JL_OK;
}

enum jl_status jl_this_lay(struct jl_this *ret_this, struct jl_cli *cli, struct jl_err *err)
{
	struct jl_this this = { .measured = true };
	const struct jl_source *source;
	bool on = false;
	enum jl_status status = JL_OK;

	JL_TRY(jl_this_machine_probe(cli, &this.machine, err));
	JL_TRY(jl_calibrate_lay(&on, cli, this.machine, err));
	this.system = this.machine->system;
	source = on ? jl_source_by_id(cli->cat, JL_OWN_SOURCE_ID) : NULL;
	if (source)
		jl_bitext_print(&this.note, "measured here on %s", source->date);
	if (on && !this.system && jl_cpu_by_id(cli->cat, JL_OWN_CPU_ID))
		this.system = "cpu:" JL_OWN_CPU_ID;
	if (!this.system && (status = lay_cpu(&this, cli, err)))
		return status;
	*ret_this = this;
	return JL_OK;
}

static void say(struct jl_cli *cli, const struct jl_this *this)
{
	const char *name = this->machine->short_name_text;
	const char *text = jl_arena_printf(&cli->arena, "%s: %s", name, this->note.text);

	jl_view_wrapped(cli, 0, this->measured ? "● this" : "○ this", text ? text : name);
}

enum jl_status jl_this_machine(struct jl_cli *cli, const char *text, const char **ret_text, struct jl_err *err)
{
	const char *word = text ? find_word(text) : NULL;
	const bool said = cli->cat && jl_source_by_id(cli->cat, JL_OWN_SOURCE_ID) != NULL;
	struct jl_this this;
	const char *system;
	char *whole;

	if (!word) {
		*ret_text = text;
		return JL_OK;
	}
	JL_TRY(jl_this_lay(&this, cli, err));
	system = this.system;
	if (!said && !cli->json && this.note.en[0])
		say(cli, &this);
	/* no parentheses are needed alone or inside existing ones */
	if (word == text && !word[strlen(WORD)])
		whole = jl_arena_strdup(&cli->arena, system);
	else
		whole = jl_arena_printf(&cli->arena, word > text && word[-1] == '(' ? "%.*s%s%s" : "%.*s(%s)%s",
					(int)(word - text), text, system, word + strlen(WORD));
	JL_TRY(jl_got(whole, err));
	*ret_text = whole;
	return JL_OK;
}

enum jl_status jl_this_machine_args(struct jl_cli *cli, struct jl_err *err)
{
	static const char *const names[] = { "on", "baseline" };
	enum jl_status status = JL_OK;

	for (size_t i = 0; !status && i < cli->args.n_given; i++)
		for (size_t k = 0; k < JL_LEN(names); k++)
			if (cli->args.given[i].text && strcmp(cli->args.given[i].option->name, names[k]) == 0) {
				status = jl_this_machine(cli, cli->args.given[i].text, &cli->args.given[i].text, err);
				break;
			}
	return status;
}
