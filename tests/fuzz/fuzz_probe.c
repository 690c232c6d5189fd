/* Captured machines: machine.txt and nvml.json, one after the other with a NUL between them. Whatever is read gives a machine whose
 * places lie inside its lists and whose findings have texts; whatever is not has one line in both languages. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "catalog/sysexpr.h"
#include "check/machine_findings.h"
#include "probe/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_message(const struct jl_err *err)
{
	must(err->status != JL_OK && err->en[0] && err->text[0]);
	must(!strchr(err->en, '\n') && !strchr(err->text, '\n'));
	must(jl_utf8_valid(err->en, strlen(err->en), NULL) && jl_utf8_valid(err->text, strlen(err->text), NULL));
}

static void check_machine(const struct jl_probe_machine *m, struct jl_arena *arena)
{
	const struct jl_findings *findings = NULL;
	struct jl_sys sys;
	struct jl_err err;

	must(strlen(m->fingerprint) == 16 && m->short_name &&
	     jl_utf8_valid(m->short_name, strlen(m->short_name), NULL));
	for (size_t i = 0; i < m->n_pci; i++)
		must(m->pci[i].parent >= -1 && m->pci[i].parent < (int)m->n_pci);
	for (size_t i = 0; i < m->n_gpus; i++) {
		must(m->gpus[i].pci >= -1 && m->gpus[i].pci < (int)m->n_pci && m->gpus[i].name);
		must(m->gpus[i].nvml || m->gpus[i].pci >= 0);
		for (size_t k = 0; k < m->n_gpus; k++)
			must(jl_probe_path(m, i, k) <= JL_PATH_SYS && jl_probe_nvlinks(m, i, k) <= JL_NVML_LINKS_MAX);
	}
	must(m->system || m->system_why_en);
	if (m->system && jl_sys_parse(&sys, jl_catalog_embedded(), m->system, arena, &err) == JL_OK)
		must(sys.n_nodes == 1 && sys.n_per_node == (int)m->n_gpus);
	must(jl_machine_findings(m, jl_catalog_embedded(), arena, &findings, &err) == JL_OK);
	for (size_t i = 0; i < findings->n; i++)
		must(findings->items[i].what.en[0] && findings->items[i].what.text[0] &&
		     findings->items[i].todo.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, '\0', size) : NULL;
	size_t len = cut ? (size_t)(cut - data) : size;
	struct jl_probe_source *source = NULL;
	const struct jl_probe_machine *machine = NULL;
	struct jl_arena arena;
	struct jl_err err = { 0 };
	enum jl_status status;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	status = jl_source_replay_text(&source, "machine.txt", (const char *)data, len,
				       cut ? (const char *)cut + 1 : NULL, cut ? size - len - 1 : 0, &arena, &err);
	if (!status)
		status = jl_probe_machine(source, jl_catalog_embedded(), NULL, &arena, &machine, &err);
	if (status)
		check_message(&err);
	else
		check_machine(machine, &arena);
	jl_source_destroy(source);
	jl_arena_release(&arena);
	return 0;
}
