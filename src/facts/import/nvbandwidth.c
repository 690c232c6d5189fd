/* Imports nvbandwidth: one record per test matrix. In text output the printed sum must equal the sum of the cells. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "import/format.h"

#define SIDE_MAX  72 /* maximum number of devices per side */
#define CELLS_MAX ((size_t)SIDE_MAX * SIDE_MAX)
#define ROW_MAX_B 800

struct matrix {
	char name[80], description[120];
	size_t line;
	size_t n_rows, n_columns, n_cells;
	double cells[CELLS_MAX]; /* numeric cells */
	double sum, half;
	char rows[SIDE_MAX][ROW_MAX_B];
	char keys[SIDE_MAX][32];
	struct jl_draft draft;
};

/* Unit in the description; 0: unknown. */
static double unit_of(const char *description, const char **ret_metric)
{
	*ret_metric = "link_Bps";
	if (strstr(description, "(GB/s)"))
		return 1e9;
	*ret_metric = "latency_s";
	return strstr(description, "(ns)") ? 1e-9 : 0;
}

static void matrix_clear(struct matrix *m)
{
	m->n_rows = m->n_columns = m->n_cells = 0;
	m->sum = m->half = 0;
}

/* "N/A": no transfer between these devices. */
static bool matrix_cell(struct matrix *m, size_t row, const char *text)
{
	size_t used = strlen(m->rows[row]);
	struct jl_number number;
	bool none = strcmp(text, "N/A") == 0;

	if (!none && (!jl_scan_token(text, &number) || m->n_cells == CELLS_MAX))
		return false;
	if (used + strlen(text) + 2 > ROW_MAX_B)
		return false;
	(void)snprintf(m->rows[row] + used, ROW_MAX_B - used, "%s%s", used ? " " : "", text);
	if (none)
		return true;
	m->sum += number.value;
	m->half += number.half;
	if (number.value > 0)
		m->cells[m->n_cells++] = number.value;
	return true;
}

static void matrix_emit(struct jl_importer *imp, struct matrix *m)
{
	const char *metric;
	double unit = unit_of(m->description, &metric);

	if (m->n_cells == 0 || unit == 0)
		return;
	for (size_t i = 0; i < m->n_cells; i++)
		m->cells[i] *= unit;
	struct jl_stats summary = jl_summarize(m->cells, m->n_cells);
	summary.lo95 = summary.hi95 = NAN; /* cells are different paths, not repetitions: no interval */
	jl_draft_begin(&m->draft, "link", "nvbandwidth", m->line, m->name);
	jl_draft_text(&m->draft, "test", m->name);
	jl_draft_text(&m->draft, "description", m->description);
	jl_draft_number(&m->draft, "n_rows", (double)m->n_rows);
	jl_draft_number(&m->draft, "n_columns", (double)m->n_columns);
	for (size_t i = 0; i < m->n_rows; i++) {
		(void)snprintf(m->keys[i], sizeof(m->keys[i]), "row_%zu", i);
		jl_draft_text(&m->draft, m->keys[i], m->rows[i]);
	}
	jl_draft_summary(&m->draft, metric, metric[0] == 'l' && metric[1] == 'a', &summary);
	jl_importer_emit(imp, &m->draft);
}

enum place { NOWHERE, NAMED, DESCRIBED, IN_ROWS };

struct text_state {
	enum place place;
	char row[JL_IMPORT_LINE_MAX_B + 1];
	struct matrix m;
};

static bool take_columns(struct text_state *s, const struct jl_line *line)
{
	char *tokens[SIDE_MAX];
	double index;

	memcpy(s->row, line->text, line->len + 1);
	size_t n = jl_scan_split(s->row, tokens, SIDE_MAX);
	if (n == 0 || n > SIDE_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!jl_scan_whole(tokens[i], &index) || (size_t)index != i)
			return false;
	s->m.n_columns = n;
	s->place = IN_ROWS;
	return true;
}

static bool take_text_row(struct text_state *s, const struct jl_line *line)
{
	char *tokens[SIDE_MAX + 1];
	double index;

	memcpy(s->row, line->text, line->len + 1);
	size_t n = jl_scan_split(s->row, tokens, SIDE_MAX + 1);
	if (n != s->m.n_columns + 1 || !jl_scan_whole(tokens[0], &index) || (size_t)index != s->m.n_rows ||
	    s->m.n_rows == SIDE_MAX)
		return false;
	s->m.rows[s->m.n_rows][0] = '\0';
	for (size_t i = 1; i < n; i++)
		if (!matrix_cell(&s->m, s->m.n_rows, tokens[i]))
			return false;
	s->m.n_rows++;
	return true;
}

/* "SUM device_to_device_memcpy_read_ce 1234.56" ends the matrix and verifies it. */
static void take_sum(struct jl_importer *imp, struct text_state *s, const struct jl_line *line)
{
	char name[80];
	struct jl_number sum;
	int used = 0;

	if (sscanf(line->text, "SUM %79s %n", name, &used) < 1 || !used || !jl_scan_token(line->text + used, &sum) ||
	    strcmp(name, s->m.name) != 0 || line->torn ||
	    fabs(sum.value - s->m.sum) > s->m.half + sum.half + 1e-4 * sum.value)
		jl_importer_remark(imp, s->m.line, true, "dropped: the matrix of %s and its sum do not agree",
				   s->m.name);
	else
		matrix_emit(imp, &s->m);
	s->place = NOWHERE;
}

static void drop_open(struct jl_importer *imp, struct text_state *s)
{
	if (s->place == IN_ROWS && s->m.n_rows)
		jl_importer_remark(imp, s->m.line, true, "dropped: the matrix of %s is cut off", s->m.name);
	s->place = NOWHERE;
}

static bool take_line(struct jl_importer *imp, void *state, const struct jl_line *line)
{
	struct text_state *s = state;
	const char *metric;
	int used = 0;

	if (strncmp(line->text, "Running ", 8) == 0 &&
	    sscanf(line->text, "Running %79[a-z0-9_].%n", s->m.name, &used) == 1 && used) {
		drop_open(imp, s);
		s->place = NAMED;
		return true;
	}
	if (s->place == NOWHERE)
		return false;
	if (unit_of(line->text, &metric) != 0 && strstr(line->text, "(row)") && !line->torn) {
		drop_open(imp, s);
		matrix_clear(&s->m);
		s->m.line = line->number;
		(void)snprintf(s->m.description, sizeof(s->m.description), "%s", line->text);
		s->place = DESCRIBED;
		jl_importer_seen(imp, "nvbandwidth");
		return true;
	}
	if (s->place == DESCRIBED)
		return take_columns(s, line);
	if (s->place == IN_ROWS && strncmp(line->text, "SUM ", 4) == 0) {
		take_sum(imp, s, line);
		return true;
	}
	return s->place == IN_ROWS && isdigit((unsigned char)line->text[strspn(line->text, " ")]) &&
	       take_text_row(s, line);
}

static void end(struct jl_importer *imp, void *state)
{
	drop_open(imp, state);
}

const struct jl_format jl_format_nvbandwidth = {
	.name = "nvbandwidth", .state_B = sizeof(struct text_state), .line = take_line, .end = end
};

static bool take_matrix(struct matrix *m, const json_t *matrix)
{
	const json_t *row, *cell;
	size_t i, k;

	json_array_foreach(matrix, i, row)
	{
		if (i == SIDE_MAX)
			return false;
		m->rows[i][0] = '\0';
		json_array_foreach(row, k, cell)
		{
			char text[40];

			if (json_is_number(cell))
				(void)snprintf(text, sizeof(text), "%.6g", json_number_value(cell));
			else
				(void)snprintf(text, sizeof(text), "%s",
					       json_is_string(cell) ? json_string_value(cell) : "?");
			if (!matrix_cell(m, i, text))
				return false;
		}
		m->n_columns = json_array_size(row);
		m->n_rows++;
	}
	return true;
}

static void take_case(struct jl_importer *imp, struct matrix *m, const json_t *test, size_t line)
{
	const char *name = json_string_value(json_object_get(test, "name"));
	const char *description = json_string_value(json_object_get(test, "bandwidth_description"));
	const char *status = json_string_value(json_object_get(test, "status"));
	const json_t *matrix = json_object_get(test, "bandwidth_matrix");

	if (!name || !json_is_array(matrix))
		return; /* waived or not found: not measured */
	matrix_clear(m);
	m->line = line;
	(void)snprintf(m->name, sizeof(m->name), "%s", name);
	(void)snprintf(m->description, sizeof(m->description), "%s", description ? description : "");
	if (!status || strcmp(status, "Passed") != 0 || !take_matrix(m, matrix))
		jl_importer_remark(imp, line, true, "dropped: %s did not pass, or has cells that are not numbers",
				   m->name);
	else
		matrix_emit(imp, m);
}

static bool take_json(struct jl_importer *imp, const json_t *root, size_t line)
{
	const json_t *top = json_object_get(root, "nvbandwidth"), *test;
	struct matrix *m;
	struct jl_err err;
	size_t i;

	if (!json_is_object(top))
		return false;
	jl_importer_seen(imp, "nvbandwidth");
	m = jl_realloc(NULL, sizeof(*m));
	if (!m) {
		jl_importer_fail(imp, jl_fail_nomem(&err), &err);
		return true;
	}
	json_array_foreach(json_object_get(top, "testcases"), i, test)
	{
		take_case(imp, m, test, line);
	}
	jl_free(m);
	return true;
}

const struct jl_format jl_format_nvbandwidth_json = { .name = "nvbandwidth", .json = take_json };
