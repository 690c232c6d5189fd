/* Imports nvidia-smi topo -m and -p2p: connections between devices. Only complete matrices are imported. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "import/format.h"

#define SIDE_MAX   48
#define NAME_MAX_B 24
#define ROW_MAX_B  ((size_t)SIDE_MAX * 8)

struct topo {
	bool open, is_p2p;
	bool full; /* all rows are read; the next line shows whether there were more columns */
	size_t line, n, n_rows;
	char names[SIDE_MAX][NAME_MAX_B];
	char cells[SIDE_MAX][SIDE_MAX][8];
	char rows[SIDE_MAX][ROW_MAX_B];
	char columns[SIDE_MAX * NAME_MAX_B];
	char text[JL_IMPORT_LINE_MAX_B + 1];
	struct jl_draft draft;
};

static const char *const paths[] = { "X", "SYS", "NODE", "PHB", "PXB", "PIX", "PSB", "SOC", "C2C", NULL };
static const char *const p2p_states[] = { "OK", "CNS", "GNS", "TNS", "NS", "DNR", "U", NULL };

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

static bool is_nvlink(const char *word)
{
	size_t n = strspn(word + (strncmp(word, "NV", 2) == 0 ? 2 : 0), "0123456789");

	return strncmp(word, "NV", 2) == 0 && n > 0 && n < 4 && word[2 + n] == '\0';
}

/* "GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity": device names up to the first other word. */
static bool take_header(struct jl_importer *imp, struct topo *t, const struct jl_line *line)
{
	char *tokens[SIDE_MAX + 8];

	memcpy(t->text, line->text, line->len + 1);
	size_t n = jl_scan_split(t->text, tokens, SIDE_MAX + 7);
	if (n == 0 || n > SIDE_MAX + 7 || strcmp(tokens[0], "GPU0") != 0 || (n > 1 && strcmp(tokens[1], "X") == 0))
		return false;
	t->n = 0;
	for (size_t i = 0; i < n && t->n < SIDE_MAX; i++) {
		size_t len = strlen(tokens[i]);

		/* device names end with a digit; "CPU Affinity", "NUMA", "GPU NUMA ID" do not */
		if (len + 1 > NAME_MAX_B || !isdigit((unsigned char)tokens[i][len - 1]))
			break;
		memcpy(t->names[t->n++], tokens[i], len + 1);
	}
	t->open = true;
	t->is_p2p = false;
	t->n_rows = 0;
	t->line = line->number;
	jl_importer_seen(imp, "nvidia-smi topo");
	return true;
}

static void emit(struct jl_importer *imp, struct topo *t)
{
	size_t used = 0, n_gpus = 0;

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(t->cells[i][k], t->cells[k][i]) != 0 && !t->is_p2p) {
				jl_importer_remark(imp, t->line, true, "dropped: the matrix is not symmetric (%s, %s)",
						   t->names[i], t->names[k]);
				return;
			}
	jl_draft_begin(&t->draft, t->is_p2p ? "p2p" : "topology", "nvidia-smi", t->line, NULL);
	t->draft.last_line = t->line + t->n;
	for (size_t i = 0; i < t->n; i++) {
		n_gpus += strncmp(t->names[i], "GPU", 3) == 0;
		used += (size_t)snprintf(t->columns + used, sizeof(t->columns) - used, "%s%s", i ? " " : "",
					 t->names[i]);
	}
	jl_draft_number(&t->draft, "n_gpus", (double)n_gpus);
	jl_draft_text(&t->draft, "columns", t->columns);
	for (size_t i = 0; i < t->n; i++) {
		size_t at = 0;

		for (size_t k = 0; k < t->n; k++)
			at += (size_t)snprintf(t->rows[i] + at, ROW_MAX_B - at, "%s%s", k ? " " : "", t->cells[i][k]);
		jl_draft_text(&t->draft, t->names[i], t->rows[i]);
	}
	jl_importer_emit(imp, &t->draft);
}

static void close_cut(struct jl_importer *imp, struct topo *t)
{
	if (t->open)
		jl_importer_remark(imp, t->line, true, "dropped: the matrix of nvidia-smi topo has %zu of %zu rows",
				   t->n_rows, t->n);
	t->open = false;
}

static bool take_row(struct jl_importer *imp, struct topo *t, const struct jl_line *line)
{
	char *tokens[SIDE_MAX + 40];
	size_t n, row = t->n_rows;

	memcpy(t->text, line->text, line->len + 1);
	n = jl_scan_split(t->text, tokens, SIDE_MAX + 39);
	if (n < t->n + 1 || n > SIDE_MAX + 39 || line->torn || strcmp(tokens[0], t->names[row]) != 0) {
		close_cut(imp, t);
		return true;
	}
	for (size_t i = 0; i < t->n; i++) {
		const char *cell = tokens[i + 1];
		bool state = is_one_of(cell, p2p_states);

		if ((i == row) != (strcmp(cell, "X") == 0) || !(state || is_one_of(cell, paths) || is_nvlink(cell))) {
			close_cut(imp, t);
			return true;
		}
		t->is_p2p |= state;
		(void)snprintf(t->cells[row][i], sizeof(t->cells[row][i]), "%s", cell);
	}
	if (++t->n_rows == t->n) {
		t->open = false;
		t->full = true;
	}
	return true;
}

/* A row more than columns: the lines were truncated. */
static void close_full(struct jl_importer *imp, struct topo *t, const char *next)
{
	const char *end = next + strcspn(next, " \t");
	const bool is_row = (strncmp(next, "GPU", 3) == 0 || strncmp(next, "NIC", 3) == 0) && end - next > 3 &&
			    isdigit((unsigned char)end[-1]) && strncmp(next, "GPU0", 4) != 0;

	if (!t->full)
		return;
	t->full = false;
	if (is_row)
		jl_importer_remark(imp, t->line, true, "dropped: the matrix of nvidia-smi topo lacks columns");
	else
		emit(imp, t);
}

static bool take_line(struct jl_importer *imp, void *state, const struct jl_line *line)
{
	struct topo *t = state;
	const char *text = line->text + strspn(line->text, " \t");

	if (*text)
		close_full(imp, t, text);
	if (strncmp(text, "GPU0", 4) == 0 && strstr(text, "GPU0") && take_header(imp, t, line)) {
		return true;
	}
	if (!t->open || !*text)
		return false;
	if (strncmp(text, t->names[t->n_rows], strlen(t->names[t->n_rows])) == 0)
		return take_row(imp, t, line);
	if (strncmp(text, "Legend", 6) == 0 || strncmp(text, "GPU", 3) == 0)
		close_cut(imp, t);
	return false;
}

static void end(struct jl_importer *imp, void *state)
{
	close_full(imp, state, "");
	close_cut(imp, state);
}

const struct jl_format jl_format_topo = {
	.name = "nvidia-smi topo", .state_B = sizeof(struct topo), .line = take_line, .end = end
};
