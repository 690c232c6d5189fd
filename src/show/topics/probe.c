#include "topics/probe.h"

#include <math.h>
#include <string.h>

#include "probe/rocm_smi.h"

#define MATRIX_MAX 12 /* GPUs whose matrix fits 80 columns */

static const char *memory(struct jl_doc *doc, double value_B)
{
	return jl_doc_format(doc, "%s", jl_value_text(JL_TXT, value_B, JL_K_BYTES, true));
}

/* Appends a piece, if any. */
static void piece(struct jl_doc *doc, const char *text)
{
	if (text && *text)
		jl_show_piece(doc, JL_MEASURED, "%s", text);
}

static void processors(struct jl_doc *doc, const struct jl_probe_machine *m)
{
	const struct jl_probe_cpu *cpu = &m->cpu;
	const char *caches = "";

	jl_doc_entry(doc, "CPU");
	piece(doc, cpu->model ? cpu->model : "?");
	jl_show_piece(doc, JL_MEASURED, JL_("%d socket{/s}, %d cores, %d threads"), cpu->n_sockets, cpu->n_cores,
		      cpu->n_threads);
	for (size_t i = 0; i < cpu->n_caches; i++) {
		const struct jl_probe_cache *c = &cpu->caches[i];
		const char *kind = strcmp(c->type, "Data") == 0 ? "d" : strcmp(c->type, "Instruction") == 0 ? "i" : "";

		caches = jl_doc_format(doc, "%s%s%d× L%d%s %s", caches, i ? ", " : "", c->n, c->level, kind,
				       memory(doc, c->size_B));
	}
	piece(doc, caches);
	piece(doc, cpu->governor);
	jl_show_entry(doc, JL_("memory"), JL_MEASURED, JL_("%s, %s free"), memory(doc, m->memory.total_B),
		      memory(doc, m->memory.available_B));
	if (m->memory.swap_B > 0)
		jl_show_piece(doc, JL_MEASURED, JL_("swap %s"), memory(doc, m->memory.swap_B));
}

static void software(struct jl_doc *doc, const struct jl_probe_machine *m)
{
	const struct jl_nvml_snapshot *nvml = m->nvml;
	const struct jl_probe_limits *limits = &m->limits;

	jl_doc_entry(doc, JL_("software"));
	piece(doc, m->os);
	jl_show_piece(doc, JL_MEASURED, "Linux %s %s", m->kernel ? m->kernel : "?", m->arch ? m->arch : "");
	if (jl_rocm_smi_said(nvml))
		jl_show_piece(doc, JL_MEASURED, JL_("AMD driver %s"), nvml->driver + strlen(JL_AMD_DRIVER));
	else if (nvml->driver[0])
		jl_show_piece(doc, JL_MEASURED, JL_("NVIDIA driver %s"), nvml->driver);
	if (nvml->cuda > 0)
		jl_show_piece(doc, JL_MEASURED, "CUDA %d.%d", nvml->cuda / 1000, nvml->cuda % 1000 / 10);
	if (limits->vm)
		jl_show_piece(doc, JL_MEASURED, JL_("virtual machine: %s"), limits->vm);
	if (limits->in)
		jl_show_piece(doc, JL_MEASURED, JL_("container: %.60s"), limits->in);
	if (!isnan(limits->cpu_quota))
		jl_show_piece(doc, JL_MEASURED, JL_("CPU quota %.3g"), limits->cpu_quota);
	if (!isnan(limits->memory_B))
		jl_show_piece(doc, JL_MEASURED, JL_("memory limit %s"), memory(doc, limits->memory_B));
	if (m->n_gpus == 0 && nvml->absent_en[0])
		jl_show_entry(doc, "NVML", JL_MEASURED, "%s", nvml->absent_text);
}

/* Bonds and disks: not part of a single branch of the tree. */
static void others(struct jl_doc *doc, const struct jl_probe_machine *m)
{
	bool open = false;

	for (size_t i = 0; i < m->n_nics; i++) {
		const struct jl_probe_nic *nic = &m->nics[i];

		if (!nic->bond_mode && nic->pci >= 0)
			continue;
		if (!open)
			jl_doc_entry(doc, JL_("network"));
		open = true;
		if (nic->bond_mode)
			jl_show_piece(doc, JL_MEASURED, "%s %s %s (%s)", nic->name, nic->bond_mode,
				      jl_show_bits(doc, nic->Bps), nic->slaves ? nic->slaves : "");
		else
			jl_show_piece(doc, JL_MEASURED, "%s %s", nic->name, jl_show_bits(doc, nic->Bps));
	}
	if (m->n_disks)
		jl_doc_entry(doc, JL_("disks"));
	for (size_t i = 0; i < m->n_disks; i++)
		jl_show_piece(doc, JL_MEASURED, "%s %s%s%s", m->disks[i].name,
			      jl_units_text(JL_TXT, m->disks[i].size_B, JL_K_BYTES, 3),
			      m->disks[i].rotational == 1 ? " HDD " : " ", m->disks[i].model ? m->disks[i].model : "");
	if (m->n_nvswitches)
		jl_show_entry(doc, "NVSwitch", JL_MEASURED, "%d", m->n_nvswitches);
}

static void tree(struct jl_doc *doc, const struct jl_probe_machine *m)
{
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_TREE, NULL, 0);

	if (chart && (chart->tree = jl_show_machine_tree(doc, m)))
		jl_doc_chart(doc, chart);
}

/* "read all pairs", "read no pair (CNS)", "read 40 of 45 pairs (NS)" */
static void p2p(struct jl_doc *doc, const struct jl_nvml_snapshot *nvml)
{
	static const char *const en[] = { JL_N("read"), JL_N("write"), JL_N("atomics") };
	const size_t n = nvml->n_gpus, n_pairs = n * (n - 1);

	if (n < 2 || !nvml->p2p[0])
		return;
	jl_doc_entry(doc, "P2P");
	for (size_t what = 0; what < JL_N_P2P_WHAT; what++) {
		const unsigned char *cells = nvml->p2p[what];
		unsigned char state = JL_P2P_OK;
		size_t ok = 0;

		for (size_t i = 0; cells && i < n * n; i++) {
			ok += i / n != i % n && cells[i] == JL_P2P_OK;
			state = cells[i] != JL_P2P_OK ? cells[i] : state;
		}
		if (cells)
			jl_show_piece(doc, JL_MEASURED, "%s %s", jl_msg(en[what]),
				      ok == n_pairs ? JL_("all pairs")
				      : !ok         ? jl_doc_format(doc, JL_("no pair (%s)"), jl_p2p_names[state])
					    : jl_doc_format(doc, JL_("%zu of %zu pairs (%s)"), ok / 2, n_pairs / 2,
							    jl_p2p_names[state]));
	}
}

/* How each pair of GPUs is joined, as nvidia-smi topo -m shows it. */
static void matrix(struct jl_doc *doc, const struct jl_probe_machine *m)
{
	struct jl_show_head heads[MATRIX_MAX + 1] = { { "", JL_COLUMN_FIGURE } };
	const size_t n = m->n_gpus <= MATRIX_MAX ? m->n_gpus : 0;

	if (m->n_gpus < 2)
		return;
	for (size_t a = 0; a < n; a++)
		heads[a + 1] = (struct jl_show_head){ jl_doc_format(doc, "%zu", a), JL_COLUMN_FIGURE };
	if (n)
		jl_show_columns(doc, NULL, heads, n + 1);
	for (size_t a = 0; a < n; a++) {
		jl_show_cell(doc, jl_num_count((double)a));
		for (size_t b = 0; b < n; b++) {
			const bool switched = a != b && jl_probe_nvswitched(m, a) && jl_probe_nvswitched(m, b);
			const int links = a == b ? 0 : switched ? m->gpus[a].nvml->n_links : jl_probe_nvlinks(m, a, b);

			jl_doc_cell_name(doc, links    ? jl_doc_format(doc, "NV%d", links)
					      : a == b ? "X"
						       : jl_probe_path_names[jl_probe_path(m, a, b)]);
		}
		jl_doc_end_row(doc, false);
	}
	p2p(doc, m->nvml);
	JL_NOTE(doc, NULL, JL_ORIGIN_NONE,
		"NVn: n NVLinks · PIX: one PCIe switch · PXB: several · PHB, NODE, SYS: CPU");
}

static const char *on_off(int value)
{
	return value < 0 ? "–" : value ? JL_C("state", "on") : JL_("off");
}

static const char *two(struct jl_doc *doc, double now, double most, double scale)
{
	if (isnan(now) && isnan(most))
		return "–";
	if (isnan(most))
		return jl_doc_format(doc, "%.0f", now / scale);
	return jl_doc_format(doc, "%.0f / %.0f", now / scale, most / scale);
}

#define STATE_CELLS 7

static void state_of(struct jl_doc *doc, const struct jl_nvml_gpu *g, const char *cells[STATE_CELLS])
{
	cells[0] = two(doc, g->sm_Hz, g->sm_max_Hz, 1e6);
	cells[1] = two(doc, g->power_W, g->limit_W, 1);
	cells[2] = two(doc, g->mem_used_B, g->mem_B, 1073741824.0);
	cells[3] = two(doc, g->temperature_C, NAN, 1);
	cells[4] = isnan(g->busy_frac) ? "–" : jl_percent_text(doc, g->busy_frac);
	cells[5] = on_off(g->ecc);
	cells[6] = on_off(g->persistence);
}

/* Current state of the GPUs; adjacent equal ones share a row. */
static void states(struct jl_doc *doc, const struct jl_nvml_snapshot *nvml)
{
	if (nvml->n_gpus)
		jl_show_table(doc, NULL, "kfffffkk",
			      JL_N("GPU|SM clock, MHz|power, W|memory, GiB|°C|busy|ECC|persistence"));
	for (size_t i = 0, last; i < nvml->n_gpus; i = last + 1) {
		const char *cells[STATE_CELLS], *next[STATE_CELLS];
		size_t k = STATE_CELLS;

		state_of(doc, &nvml->gpus[i], cells);
		for (last = i; k == STATE_CELLS && last + 1 < nvml->n_gpus; last += k == STATE_CELLS) {
			state_of(doc, &nvml->gpus[last + 1], next);
			for (k = 0; k < STATE_CELLS && strcmp(cells[k], next[k]) == 0;)
				k++;
		}
		JL_CELLS(doc, JL_FIGURE_TEXT(last > i ? jl_doc_format(doc, "%zu–%zu", i, last)
						      : jl_doc_format(doc, "%zu", i),
					     JL_ORIGIN_NONE));
		for (k = 0; k < STATE_CELLS; k++) {
			JL_CELLS(doc, JL_FIGURE_TEXT(cells[k], JL_MEASURED));
		}
		jl_doc_end_row(doc, false);
	}
}

static void findings(struct jl_doc *doc, const struct jl_findings *found)
{
	static const enum jl_mark marks[] = { JL_MARK_NONE, JL_MARK_WARN, JL_MARK_BAD };
	bool predicted = false;
	size_t n[3] = { 0 };

	for (size_t i = 0; i < found->n; i++)
		n[found->items[i].severity]++;
	jl_doc_gap(doc);
	jl_doc_lead(doc);
	if (found->n)
		jl_doc_strong(
			doc, jl_doc_format(doc, JL_("Findings: ✗ bad %zu, ! warning %zu, note %zu"), n[2], n[1], n[0]));
	else
		JL_SHOW(doc, "Findings: nothing stands out.");
	for (size_t i = 0; i < found->n; i++) {
		const struct jl_finding *f = &found->items[i];

		predicted |= !isnan(f->after);
		jl_doc_gap(doc);
		jl_doc_finding(doc, marks[f->severity], f->what.text);
		JL_SHOW(doc, "why: ");
		jl_doc_sourced(doc, f->why.text, JL_ESTIMATED, JL_METHOD);
		jl_doc_break(doc);
		JL_SHOW(doc, "do: ");
		jl_doc_sourced(doc, f->todo.text, JL_ESTIMATED, JL_METHOD);
	}
	if (predicted)
		JL_NOTE(doc, NULL, JL_ORIGIN_NONE,
			"○ predicted figures are estimated: batch 4 a GPU, sequence 512, DDP");
}

void jl_show_machine(struct jl_doc *doc, const struct jl_probe_machine *m)
{
	JL_LEAD(doc, m->short_name_text);
	if (m->hostname || m->vendor || m->product || m->board || m->listed_system)
		jl_doc_entry(doc, JL_("machine"));
	piece(doc, m->hostname);
	piece(doc, m->vendor);
	piece(doc, m->product);
	piece(doc, m->product && m->board && strcmp(m->product, m->board) == 0 ? NULL : m->board);
	piece(doc, m->listed_system ? m->listed_system->id : NULL);
	jl_show_entry(doc, JL_("as a system"), JL_ORIGIN_NONE, "%s", m->system ? m->system : jl_msg(m->system_why_en));
	processors(doc, m);
	software(doc, m);
	others(doc, m);
	tree(doc, m);
	matrix(doc, m);
	states(doc, m->nvml);
}

void jl_show_probed(struct jl_doc *doc, const struct jl_probed *probed)
{
	const struct jl_probe_machine *m = probed->machine;
	const struct jl_findings *found = probed->findings;

	jl_doc_lead(doc);
	JL_SENTENCE(doc,
		    found->n ? JL_("This machine has |1 GPUs, |2 cores and |3 of memory. Findings: |4; the most "
				   "important: |5.")
			     : JL_("This machine has |1 GPUs, |2 cores and |3 of memory. No problem found; 'jeoul "
				   "bench all --quick' measures its speed."),
		    JL_COUNT(m->n_gpus), JL_COUNT(m->cpu.n_cores),
		    JL_FIGURE_TEXT(memory(doc, m->memory.total_B), JL_MEASURED), JL_COUNT(found->n),
		    JL_WORD(found->n ? found->items[0].what.text : ""));
	jl_doc_gap(doc);
	jl_show_machine(doc, m);
	findings(doc, found);
}

/* --- JSON */

JL_TEXT_OF(severity, jl_finding, jl_severity_name(r->severity));
JL_BOOL_OF(is_predicted, jl_finding, !isnan(r->after));

static const struct jl_field finding_rows[] = {
	{ JL_FIELD(jl_finding, TEXT, key) },
	{ JL_FIELD_TEXT_OF("severity", severity) },
	{ JL_FIELD_AS(jl_finding, CHARS, what.en, "what") },
	{ JL_FIELD_AS(jl_finding, CHARS, why.en, "why") },
	{ JL_FIELD_AS(jl_finding, CHARS, todo.en, "do") },
	{ JL_FIELD_AS(jl_finding, INT, gain_gpus, "predicted_n_gpus"), .when = is_predicted },
	{ JL_FIELD_AS(jl_finding, NUMBER, before, "predicted_speedup_now"), .when = is_predicted },
	{ JL_FIELD_AS(jl_finding, NUMBER, after, "predicted_speedup_then"), .when = is_predicted },
};
static const struct jl_schema finding_fields = JL_SCHEMA("finding", jl_finding, finding_rows);

static const struct jl_field list_rows[] = {
	{ JL_FIELD_MANY(jl_findings, ARRAY, items, n, "findings", &finding_fields) },
};
static const struct jl_schema list_fields = JL_SCHEMA("findings", jl_findings, list_rows);

static const struct jl_field rows[] = {
	{ JL_FIELD(jl_probed, SEEN, machine), .sub = &jl_machine_fields, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_probed, SEEN, findings), .sub = &list_fields, .flags = JL_FF_FLAT },
};
const struct jl_schema jl_probed_fields = JL_SCHEMA("probe", jl_probed, rows);
