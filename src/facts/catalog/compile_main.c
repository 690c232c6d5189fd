/* jeoul-catalogc CATALOG_DIR OUT.c: checks the catalog and writes it as C. Build tool. */
#include <stdio.h>

#include "catalog/emit.h"
#include "catalog/load.h"

/* This tool generates the built-in catalog, so it has none itself. */
const struct jl_catalog *jl_catalog_embedded(void)
{
	static const struct jl_catalog none = { .n_gpus = 0 };

	return &none;
}

static int write_file(const char *path, const struct jl_buf *text)
{
	FILE *file = fopen(path, "wb");

	if (!file) {
		perror(path);
		return 1;
	}
	int failed = fwrite(text->data, 1, text->len, file) != text->len;
	if (fclose(file) != 0 || failed) {
		perror(path);
		remove(path); /* remove partial output: make would think it up to date */
		return 1;
	}
	return 0;
}

static int compile(const char *dir, const char *path, struct jl_arena *arena)
{
	const struct jl_catalog *cat;
	struct jl_findings findings;
	struct jl_err err;
	struct jl_buf out;
	int failed = 1;

	if (jl_catalog_read(&cat, NULL, &dir, 1, arena, &findings, &err)) {
		for (const struct jl_finding *f = findings.first; f; f = f->next)
			fprintf(stderr, "%s\n", f->err.en);
		if (!findings.first)
			fprintf(stderr, "%s\n", err.en);
		else
			fprintf(stderr, "%zu to mend in the catalog\n", findings.n);
		return 1;
	}
	jl_buf_init(&out, JL_EMIT_MAX_B);
	jl_catalog_emit(&out, cat);
	if (out.failed)
		fprintf(stderr, "%s: the catalog does not fit in memory\n", dir);
	else
		failed = write_file(path, &out);
	jl_buf_release(&out);
	return failed;
}

int main(int argc, char **argv)
{
	struct jl_arena arena;

	if (argc != 3) {
		fprintf(stderr, "usage: jeoul-catalogc CATALOG_DIR OUT.c\n");
		return 2;
	}
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	int failed = compile(argv[1], argv[2], &arena);
	jl_arena_release(&arena);
	return failed;
}
