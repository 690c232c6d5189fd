#include "cli/probe_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/utf8.h"
#include "cli/view.h"

#define MATRIX_MAX 12 /* GPUs whose pairs fit 80 columns */

const char *jl_view_gpu_name(const char *name)
{
	static const char *const brands[] = { "NVIDIA ", "GeForce " };

	for (size_t i = 0; i < sizeof(brands) / sizeof(*brands); i++)
		if (strncmp(name, brands[i], strlen(brands[i])) == 0)
			name += strlen(brands[i]);
	return name;
}

const char *jl_view_bits(char out[JL_UNITS_TEXT_MAX], double Bps)
{
	if (isnan(Bps))
		snprintf(out, JL_UNITS_TEXT_MAX, "? Gb/s");
	else
		snprintf(out, JL_UNITS_TEXT_MAX, "%.4g Gb/s", Bps * 8 / 1e9);
	return out;
}

const char *jl_view_pcie(char out[48], const struct jl_probe_gpu *gpu)
{
	struct jl_pci_link now = jl_probe_link(gpu), most = gpu->card.gen > 0 ? gpu->card : gpu->most;
	bool idle = !gpu->under_load && gpu->now.gen > 0 && gpu->now.gen < now.gen;

	if (now.gen < 0)
		snprintf(out, 48, "?");
	else if (now.gen == most.gen && now.width == most.width)
		jl_format(out, 48, "gen%d x%d%s", now.gen, now.width, idle ? JL_(" (idle)") : "");
	else
		jl_format(out, 48, JL_("gen%d x%d of gen%d x%d"), now.gen, now.width, most.gen, most.width);
	return out;
}

static void put_part(struct jl_buf *out, bool *first, const char *text)
{
	if (!text || !*text)
		return;
	jl_buf_printf(out, "%s%s", *first ? "" : " · ", text);
	*first = false;
}

static void put_wrapped(struct jl_cli *cli, const char *label, const struct jl_buf *text)
{
	if (text->len)
		jl_view_wrapped(cli, 0, label, jl_buf_text(text));
}

static void headline(struct jl_cli *cli, const struct jl_probe_machine *machine)
{
	struct jl_buf text;
	bool first = true;

	jl_buf_printf(&cli->out, "%s%s%s\n", jl_view_bold(cli), machine->short_name_text, jl_view_reset(cli));
	jl_buf_init(&text, 4096);
	put_part(&text, &first, machine->hostname);
	put_part(&text, &first, machine->vendor);
	put_part(&text, &first, machine->product);
	if (!machine->product || !machine->board || strcmp(machine->product, machine->board) != 0)
		put_part(&text, &first, machine->board);
	if (machine->listed_system)
		put_part(&text, &first, machine->listed_system->id);
	put_wrapped(cli, JL_("machine"), &text);
	jl_buf_reset(&text);
	if (machine->system)
		jl_buf_puts(&text, machine->system);
	else
		jl_buf_printf(&text, "%s", jl_msg(machine->system_why_en));
	put_wrapped(cli, JL_("as a system"), &text);
	jl_buf_release(&text);
}

static void processors(struct jl_cli *cli, const struct jl_probe_machine *machine)
{
	const struct jl_probe_cpu *cpu = &machine->cpu;
	struct jl_buf text;
	char size[JL_UNITS_TEXT_MAX];

	jl_buf_init(&text, 4096);
	jl_buf_printf(&text, JL_("%s · %d socket{/s}, %d cores, %d threads"), cpu->model ? cpu->model : "?",
		      cpu->n_sockets, cpu->n_cores, cpu->n_threads);
	for (size_t i = 0; i < cpu->n_caches; i++) {
		const struct jl_probe_cache *cache = &cpu->caches[i];

		jl_buf_printf(&text, "%s%d× L%d%s %s", i ? ", " : " · ", cache->n, cache->level,
			      strcmp(cache->type, "Data") == 0          ? "d"
			      : strcmp(cache->type, "Instruction") == 0 ? "i"
									: "",
			      jl_view_value(size, cache->size_B, JL_K_BYTES, true));
	}
	if (cpu->governor)
		jl_buf_printf(&text, " · %s", cpu->governor);
	put_wrapped(cli, "CPU", &text);
	jl_buf_reset(&text);
	jl_buf_printf(&text, JL_("%s, %s free"), jl_view_value(size, machine->memory.total_B, JL_K_BYTES, true),
		      jl_view_value((char[JL_UNITS_TEXT_MAX]){ 0 }, machine->memory.available_B, JL_K_BYTES, true));
	if (machine->memory.swap_B > 0)
		jl_buf_printf(&text, JL_(" · swap %s"), jl_view_value(size, machine->memory.swap_B, JL_K_BYTES, true));
	put_wrapped(cli, JL_("memory"), &text);
	jl_buf_release(&text);
}

static void software(struct jl_cli *cli, const struct jl_probe_machine *machine)
{
	const struct jl_nvml_snapshot *nvml = machine->nvml;
	const struct jl_probe_limits *limits = &machine->limits;
	struct jl_buf text;
	bool first = true;
	char piece[128], size[JL_UNITS_TEXT_MAX];

	jl_buf_init(&text, 4096);
	put_part(&text, &first, machine->os);
	snprintf(piece, sizeof(piece), "Linux %.60s %.20s", machine->kernel ? machine->kernel : "?",
		 machine->arch ? machine->arch : "");
	put_part(&text, &first, piece);
	if (nvml->driver[0]) {
		jl_format(piece, sizeof(piece), JL_("NVIDIA driver %s"), nvml->driver);
		put_part(&text, &first, piece);
	}
	if (nvml->cuda > 0) {
		snprintf(piece, sizeof(piece), "CUDA %d.%d", nvml->cuda / 1000, nvml->cuda % 1000 / 10);
		put_part(&text, &first, piece);
	}
	if (limits->vm) {
		jl_format(piece, sizeof(piece), JL_("virtual machine: %s"), limits->vm);
		put_part(&text, &first, piece);
	}
	if (limits->in) {
		jl_format(piece, sizeof(piece), JL_("container: %.60s"), limits->in);
		put_part(&text, &first, piece);
	}
	if (!isnan(limits->cpu_quota)) {
		jl_format(piece, sizeof(piece), JL_("CPU quota %.3g"), limits->cpu_quota);
		put_part(&text, &first, piece);
	}
	if (!isnan(limits->memory_B)) {
		jl_format(piece, sizeof(piece), JL_("memory limit %s"),
			  jl_view_value(size, limits->memory_B, JL_K_BYTES, true));
		put_part(&text, &first, piece);
	}
	put_wrapped(cli, JL_("software"), &text);
	jl_buf_reset(&text);
	if (machine->n_gpus == 0 && nvml->absent_en[0]) {
		jl_buf_puts(&text, nvml->absent_text);
		put_wrapped(cli, "NVML", &text);
	}
	jl_buf_release(&text);
}

/* Bonds and disks: they hang on no single branch of the tree. */
static void others(struct jl_cli *cli, const struct jl_probe_machine *machine)
{
	struct jl_buf text;
	bool first = true;
	char piece[256], value[JL_UNITS_TEXT_MAX];

	jl_buf_init(&text, 65536);
	for (size_t i = 0; i < machine->n_nics; i++) {
		const struct jl_probe_nic *nic = &machine->nics[i];

		if (!nic->bond_mode && nic->pci >= 0)
			continue;
		if (nic->bond_mode)
			snprintf(piece, sizeof(piece), "%s %s %s (%.100s)", nic->name, nic->bond_mode,
				 jl_view_bits(value, nic->Bps), nic->slaves ? nic->slaves : "");
		else
			snprintf(piece, sizeof(piece), "%s %s", nic->name, jl_view_bits(value, nic->Bps));
		put_part(&text, &first, piece);
	}
	put_wrapped(cli, JL_("network"), &text);
	jl_buf_reset(&text);
	first = true;
	for (size_t i = 0; i < machine->n_disks; i++) {
		const struct jl_probe_disk *disk = &machine->disks[i];

		snprintf(piece, sizeof(piece), "%s %s%s%.60s", disk->name,
			 jl_units_text(value, disk->size_B, JL_K_BYTES, 3), disk->rotational == 1 ? " HDD " : " ",
			 disk->model ? disk->model : "");
		put_part(&text, &first, piece);
	}
	put_wrapped(cli, JL_("disks"), &text);
	if (machine->n_nvswitches) {
		jl_buf_reset(&text);
		jl_buf_printf(&text, "%d", machine->n_nvswitches);
		put_wrapped(cli, "NVSwitch", &text);
	}
	jl_buf_release(&text);
}

/* "all 45 pairs", "none of 45 pairs (CNS)", "40 of 45 pairs" */
static void p2p_line(struct jl_cli *cli, const struct jl_nvml_snapshot *nvml)
{
	static const char *const en[] = { JL_N("read"), JL_N("write"), JL_N("atomics") };
	size_t n = nvml->n_gpus, n_pairs = n * (n - 1);

	if (n < 2 || !nvml->p2p[0])
		return;
	jl_buf_puts(&cli->out, "  P2P ");
	for (size_t what = 0; what < JL_N_P2P_WHAT; what++) {
		const unsigned char *cells = nvml->p2p[what];
		unsigned char state = JL_P2P_OK;
		size_t ok = 0;

		if (!cells)
			continue;
		for (size_t i = 0; i < n * n; i++) {
			ok += i / n != i % n && cells[i] == JL_P2P_OK;
			if (cells[i] != JL_P2P_OK)
				state = cells[i];
		}
		jl_buf_printf(&cli->out, "%s%s ", what ? " · " : "", jl_msg(en[what]));
		if (ok == n_pairs)
			jl_buf_printf(&cli->out, "%s", JL_("all pairs"));
		else if (ok == 0)
			jl_buf_printf(&cli->out, JL_("no pair (%s)"), jl_p2p_names[state]);
		else
			jl_buf_printf(&cli->out, JL_("%zu of %zu pairs (%s)"), ok / 2, n_pairs / 2,
				      jl_p2p_names[state]);
	}
	jl_buf_putc(&cli->out, '\n');
}

/* As nvidia-smi topo -m: how each pair is joined. */
static void matrix(struct jl_cli *cli, const struct jl_probe_machine *machine)
{
	size_t n = machine->n_gpus;
	char cell[16];

	if (n < 2)
		return;
	jl_buf_putc(&cli->out, '\n');
	for (size_t a = 0; n <= MATRIX_MAX && a < n; a++) {
		if (a == 0) {
			jl_buf_pad(&cli->out, ' ', 6);
			for (size_t b = 0; b < n; b++)
				jl_buf_printf(&cli->out, "%6zu", b);
			jl_buf_putc(&cli->out, '\n');
		}
		jl_buf_printf(&cli->out, "  %4zu", a);
		for (size_t b = 0; b < n; b++) {
			int links = a == b ? 0 : jl_probe_nvlinks(machine, a, b);

			if (a != b && jl_probe_nvswitched(machine, a) && jl_probe_nvswitched(machine, b))
				links = machine->gpus[a].nvml->n_links;
			if (links)
				snprintf(cell, sizeof(cell), "NV%d", links);
			else
				snprintf(cell, sizeof(cell), "%s",
					 a == b ? "X" : jl_probe_path_names[jl_probe_path(machine, a, b)]);
			jl_buf_printf(&cli->out, "%6s", cell);
		}
		jl_buf_putc(&cli->out, '\n');
	}
	p2p_line(cli, machine->nvml);
	jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
		      JL_("NVn: n NVLinks · PIX: one PCIe switch · PXB: several · PHB, NODE, SYS: CPU"),
		      jl_view_reset(cli));
}

static const char *yes_no(int value)
{
	return value < 0 ? "–" : value ? JL_C("state", "on") : JL_("off");
}

static const char *two(char out[64], double now, double most, double scale)
{
	if (isnan(now) && isnan(most))
		snprintf(out, 64, "–");
	else if (isnan(most))
		snprintf(out, 64, "%.0f", now / scale);
	else
		snprintf(out, 64, "%.0f / %.0f", now / scale, most / scale);
	return out;
}

#define STATE_CELLS 7

static void state_cells(struct jl_cli *cli, const struct jl_nvml_gpu *nvml, const char *cells[STATE_CELLS])
{
	char text[64];
	const double used[] = { nvml->mem_used_B, nvml->mem_B };

	cells[0] = jl_arena_strdup(&cli->arena, two(text, nvml->sm_Hz, nvml->sm_max_Hz, 1e6));
	cells[1] = jl_arena_strdup(&cli->arena, two(text, nvml->power_W, nvml->limit_W, 1));
	cells[2] = jl_arena_strdup(&cli->arena, two(text, used[0], used[1], 1073741824.0));
	cells[3] = jl_arena_strdup(&cli->arena, two(text, nvml->temperature_C, NAN, 1));
	cells[4] = isnan(nvml->busy_frac) ? "–" : jl_arena_printf(&cli->arena, "%.0f %%", 100 * nvml->busy_frac);
	cells[5] = yes_no(nvml->ecc);
	cells[6] = yes_no(nvml->persistence);
}

static bool same_cells(const char *const a[STATE_CELLS], const char *const b[STATE_CELLS])
{
	for (size_t i = 0; i < STATE_CELLS; i++)
		if (!a[i] || !b[i] || strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

/* The state of the GPUs now; neighbours that are alike take one row. */
static enum jl_status gpu_table(struct jl_cli *cli, const struct jl_probe_machine *machine, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = "GPU" },
		{ .head = JL_("SM clock, MHz"), .align = JL_RIGHT },
		{ .head = JL_("power, W"), .align = JL_RIGHT },
		{ .head = JL_("memory, GiB"), .align = JL_RIGHT },
		{ .head = "°C", .align = JL_RIGHT },
		{ .head = JL_("busy"), .align = JL_RIGHT },
		{ .head = "ECC" },
		{ .head = "persistence" },
	};
	const struct jl_nvml_snapshot *nvml = machine->nvml;
	struct jl_table table;

	if (nvml->n_gpus == 0)
		return JL_OK;
	jl_buf_putc(&cli->out, '\n');
	jl_table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < nvml->n_gpus;) {
		const char *cells[STATE_CELLS], *next[STATE_CELLS];
		size_t last = i;

		state_cells(cli, &nvml->gpus[i], cells);
		for (; last + 1 < nvml->n_gpus; last++) {
			state_cells(cli, &nvml->gpus[last + 1], next);
			if (!same_cells(cells, next))
				break;
		}
		if (last > i)
			jl_table_printf(&table, "%zu–%zu", i, last);
		else
			jl_table_printf(&table, "%zu", i);
		for (size_t k = 0; k < STATE_CELLS; k++)
			jl_table_cell(&table, cells[k] ? cells[k] : "?");
		jl_table_end_row(&table);
		i = last + 1;
	}
	return jl_view_table(cli, &table, 2, err);
}

enum jl_status jl_view_machine(struct jl_cli *cli, const struct jl_probe_machine *machine, struct jl_err *err)
{
	enum jl_status status;

	headline(cli, machine);
	jl_buf_putc(&cli->out, '\n');
	processors(cli, machine);
	software(cli, machine);
	others(cli, machine);
	jl_buf_putc(&cli->out, '\n');
	jl_view_machine_tree(cli, machine);
	matrix(cli, machine);
	status = gpu_table(cli, machine, err);
	jl_buf_putc(&cli->out, '\n');
	return status;
}

/* "! text" broken at blanks; what follows stands under the text. */
static void wrapped(struct jl_cli *cli, const char *mark, const char *text)
{
	size_t at = 2 + jl_utf8_width(mark) + 1;

	jl_buf_printf(&cli->out, "  %s%s", jl_view_bold(cli), mark);
	for (bool first = true; *text; first = false) {
		size_t len = strcspn(text, " "), blanks = strspn(text + len, " ");
		char word[JL_FINDING_TEXT_MAX];

		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		if (!first && at + 1 + jl_utf8_width(word) > cli->width) {
			jl_buf_puts(&cli->out, "\n   ");
			at = 4;
		}
		jl_buf_printf(&cli->out, " %s", word);
		at += 1 + jl_utf8_width(word);
		text += len + blanks;
	}
	jl_buf_printf(&cli->out, "%s\n", jl_view_reset(cli));
}

void jl_view_findings(struct jl_cli *cli, const struct jl_findings *findings)
{
	static const char *const marks[] = { "·", "!", "‼" };
	size_t n[3] = { 0 };
	bool predicted = false;

	for (size_t i = 0; i < findings->n; i++)
		n[findings->items[i].severity]++;
	if (findings->n == 0) {
		jl_buf_puts(&cli->out, JL_("Findings: nothing stands out.\n"));
		return;
	}
	jl_buf_printf(&cli->out, JL_("%sFindings%s  ‼ bad %zu · ! warning %zu · · note %zu\n"), jl_view_bold(cli),
		      jl_view_reset(cli), n[2], n[1], n[0]);
	for (size_t i = 0; i < findings->n; i++) {
		const struct jl_finding *f = &findings->items[i];

		predicted = predicted || !isnan(f->after);
		jl_buf_putc(&cli->out, '\n');
		wrapped(cli, marks[f->severity], f->what.text);
		jl_view_wrapped(cli, 4, JL_("why"), f->why.text);
		jl_view_wrapped(cli, 4, JL_("do"), f->todo.text);
	}
	if (predicted)
		jl_buf_printf(&cli->out, "\n  %s%s%s\n", jl_view_dim(cli),
			      JL_("○ predicted figures are estimated: batch 4 a GPU, sequence 512, DDP"),
			      jl_view_reset(cli));
}
