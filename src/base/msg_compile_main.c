/* jeoul-poc NAME OUT.c FILE.po...: compiles translations into C tables, an array NAME of languages, English first. Build tool; links nothing of
 * jeoul. Untranslated and fuzzy entries are left out. A translation whose printf arguments differ from the original's is refused. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 32

struct text {
	char *data;
	size_t len, size;
};

struct entry {
	char *id, *said;
	bool is_format;
	size_t line;
};

struct po {
	const char *path;
	struct entry *entries;
	size_t n, size;
};

struct state {
	struct text id, said, *open; /* open: the text that a continuation line extends */
	bool fuzzy, is_format, has_id;
	size_t line;
};

static void *grown(void *data, size_t size)
{
	void *room = realloc(data, size);

	if (!room) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return room;
}

static void add(struct text *text, char c)
{
	if (text->len + 2 > text->size) {
		text->size = text->size ? 2 * text->size : 128;
		text->data = grown(text->data, text->size);
	}
	text->data[text->len++] = c;
	text->data[text->len] = '\0';
}

static bool refuse(const char *path, size_t line, const char *what)
{
	fprintf(stderr, "%s:%zu: %s\n", path, line, what);
	return false;
}

/* Appends a quoted gettext string to `text`, escapes resolved. */
static bool read_quoted(struct text *text, const char *at)
{
	static const char from[] = "ntr\\\"", to[] = "\n\t\r\\\"";

	if (*at != '"')
		return false;
	for (at++; *at && *at != '"'; at++) {
		const char *escape = *at == '\\' && at[1] ? strchr(from, at[1]) : NULL;

		if (*at == '\\' && !escape)
			return false;
		add(text, escape ? to[escape - from] : *at);
		at += escape != NULL;
	}
	return *at == '"' && strspn(at + 1, " \t\r\n") == strlen(at + 1);
}

/* Lists the arguments of a format by length modifier and conversion ("zu", "s"); false: invalid format, or too many arguments. */
static bool read_format(char kinds[ARGS_MAX][8], size_t *ret_n, const char *format)
{
	size_t next = 0, n = 0;

	memset(kinds, 0, ARGS_MAX * sizeof(*kinds));
	for (const char *at = format; (at = strchr(at, '%')); at++) {
		size_t index, digits = strspn(at + 1, "0123456789"), len = 0;

		if (at[1] == '%') {
			at++;
			continue;
		}
		index = next;
		if (digits && at[1 + digits] == '$') {
			index = (size_t)strtoul(at + 1, NULL, 10) - 1;
			at += digits + 1;
		}
		for (at++; *at && strchr("-+ #0123456789.*'", *at); at++)
			if (*at == '*') {
				if (index >= ARGS_MAX)
					return false;
				strcpy(kinds[index++], "*");
			}
		if (index >= ARGS_MAX)
			return false;
		while (*at && strchr("hlLqjzt", *at) && len < 3)
			kinds[index][len++] = *at++;
		if (!*at || !strchr("diouxXeEfFgGaAcsp", *at))
			return false;
		/* conversions of the same argument type count as equal */
		kinds[index][len] = strchr("di", *at)         ? 'd'
				    : strchr("ouxX", *at)     ? 'u'
				    : strchr("eEfFgGaA", *at) ? 'f'
							      : *at;
		next = index + 1;
		n = next > n ? next : n;
	}
	*ret_n = n;
	return true;
}

static bool same_arguments(const char *id, const char *said)
{
	char a[ARGS_MAX][8], b[ARGS_MAX][8];
	size_t n_a, n_b;

	return read_format(a, &n_a, id) && read_format(b, &n_b, said) && n_a == n_b && memcmp(a, b, sizeof(a)) == 0;
}

/* Appends the entry that has just ended. */
static bool close_entry(struct po *po, struct state *state)
{
	bool fine = true;

	if (state->has_id && state->id.len > 0 && state->said.len > 0 && !state->fuzzy) {
		if (state->is_format && !same_arguments(state->id.data, state->said.data))
			fine = refuse(po->path, state->line, "the translation does not take the same arguments");
		if (po->n == po->size) {
			po->size = po->size ? 2 * po->size : 256;
			po->entries = grown(po->entries, po->size * sizeof(*po->entries));
		}
		po->entries[po->n++] = (struct entry){ state->id.data, state->said.data, state->is_format,
						       state->line };
	} else {
		free(state->id.data);
		free(state->said.data);
	}
	*state = (struct state){ .line = state->line };
	return fine;
}

static bool read_line(struct po *po, struct state *state, const char *line, size_t number)
{
	bool fine = true;

	if (line[0] == '#' || line[strspn(line, " \t\r\n")] == '\0') {
		if (state->open == &state->said)
			fine = close_entry(po, state);
		if (strncmp(line, "#,", 2) == 0) {
			state->fuzzy = strstr(line, "fuzzy") != NULL;
			state->is_format = strstr(line, "c-format") && !strstr(line, "no-c-format");
		}
		return fine;
	}
	if (strncmp(line, "msgid ", 6) == 0 || strncmp(line, "msgctxt ", 8) == 0) {
		if (state->open == &state->said)
			fine = close_entry(po, state);
		if (state->open == &state->id)
			add(&state->id, '\004'); /* the text so far is the context (msgctxt) */
		state->open = &state->id;
		state->has_id = line[3] == 'i';
		state->line = number;
		line += state->has_id ? 6 : 8;
	} else if (strncmp(line, "msgstr ", 7) == 0 && state->has_id) {
		state->open = &state->said;
		line += 7;
	} else if (line[0] != '"' || !state->open) {
		return refuse(po->path, number, "not understood (msgid, msgstr; msgctxt; no plural forms)");
	}
	if (!read_quoted(state->open, line))
		return refuse(po->path, number, "a text in quotes should be here");
	return fine;
}

static int by_id(const void *x, const void *y)
{
	return strcmp(((const struct entry *)x)->id, ((const struct entry *)y)->id);
}

static bool read_po(struct po *po)
{
	FILE *file = fopen(po->path, "r");
	struct state state = { .line = 0 };
	char *line = NULL;
	size_t size = 0, number = 0;
	bool fine = true;

	if (!file) {
		perror(po->path);
		return false;
	}
	while (getline(&line, &size, file) >= 0)
		fine = read_line(po, &state, line, ++number) && fine;
	fine = close_entry(po, &state) && fine;
	free(line);
	fclose(file);
	if (po->n)
		qsort(po->entries, po->n, sizeof(*po->entries), by_id);
	for (size_t i = 1; i < po->n; i++)
		if (strcmp(po->entries[i].id, po->entries[i - 1].id) == 0)
			fine = refuse(po->path, po->entries[i].line, "the same msgid twice");
	return fine;
}

static void write_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\t')
			fputs("\\t", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (*text == '?') /* avoid trigraphs */
			fputs("\\?", out);
		else if (*text == '\004')
			fputs("\\004", out);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

/* ".../ko.po" is "ko" */
static const char *language_code(char code[16], const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	snprintf(code, 16, "%.*s", (int)strcspn(name, "."), name);
	return code;
}

static void write_rows(FILE *out, const struct po *po, size_t number)
{
	size_t at = 0;

	fprintf(out, "\nstatic const char texts_%zu[] =\n", number);
	for (size_t i = 0; i < po->n; i++) {
		fputc('\t', out);
		write_text(out, po->entries[i].id);
		fputs(" \"\\000\" ", out);
		write_text(out, po->entries[i].said);
		fputs(" \"\\000\"\n", out);
	}
	fprintf(out, "\t\"\";\n\nstatic const struct jl_msg_row rows_%zu[] = {\n", number);
	for (size_t i = 0; i < po->n; i++) {
		const size_t said = at + strlen(po->entries[i].id) + 1;

		fprintf(out, "\t{ %zu, %zu },\n", at, said);
		at = said + strlen(po->entries[i].said) + 1;
	}
	fputs("};\n", out);
}

static void write_language(FILE *out, const struct po *po, size_t number)
{
	char code[16];

	language_code(code, po->path);
	if (po->n)
		write_rows(out, po, number);
	fprintf(out, "\nstatic const struct jl_language lang_%zu = { \"%s\", %zu, ", number, code, po->n);
	if (po->n)
		fprintf(out, "rows_%zu, texts_%zu };\n", number, number);
	else
		fputs("NULL, NULL };\n", out);
}

static void write_all(FILE *out, const char *name, const struct po *pos, size_t n)
{
	char code[16];

	fprintf(out,
		"/* Made by jeoul-poc. */\n#include \"base/msg.h\"\n\n#pragma GCC diagnostic ignored "
		"\"-Woverlength-strings\"\n\nextern const struct jl_language *const %s[];\n",
		name);
	fputs("\nstatic const struct jl_language lang_en = { \"en\", 0, NULL, NULL };\n", out);
	for (size_t i = 0; i < n; i++)
		write_language(out, &pos[i], i);
	fprintf(out, "\nconst struct jl_language *const %s[] = { &lang_en, ", name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "&lang_%zu, ", i);
	fputs("NULL };\n", out);
	fprintf(out, "\nextern const char *const %s_codes[];\nconst char *const %s_codes[] = { ", name, name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "\"%s\", ", language_code(code, pos[i].path));
	fprintf(out, "\"en\", NULL };\n\nextern const char %s_choice[];\nconst char %s_choice[] = \"", name, name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s|", language_code(code, pos[i].path));
	fputs("en\";\n", out);
}

int main(int argc, char **argv)
{
	struct po pos[64] = { 0 };
	size_t n = argc > 3 ? (size_t)argc - 3 : 0;
	bool fine = true;
	FILE *out;

	if (argc < 3 || n > sizeof(pos) / sizeof(*pos)) {
		fputs("usage: jeoul-poc NAME OUT.c FILE.po...\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < n; i++) {
		pos[i].path = argv[3 + i];
		fine = read_po(&pos[i]) && fine;
	}
	if (!fine)
		return 1;
	out = fopen(argv[2], "w");
	if (!out) {
		perror(argv[2]);
		return 1;
	}
	write_all(out, argv[1], pos, n);
	fine = !ferror(out);
	if (fclose(out) != 0 || !fine) {
		perror(argv[2]);
		remove(argv[2]); /* remove partial output: make would think it up to date */
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < pos[i].n; k++) {
			free(pos[i].entries[k].id);
			free(pos[i].entries[k].said);
		}
		free(pos[i].entries);
	}
	return 0;
}
