/* Any bytes as YAML: refused in one line that says where, or a tree whose every text can be shown and stands inside the input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void look_at(const struct jl_yaml *node, size_t n_lines, int depth)
{
	char shown[JL_UTF8_SHOWN_MAX];

	must(depth <= JL_YAML_DEPTH_MAX + 1 && node->where.line >= 1 && node->where.line <= n_lines + 1);
	if (node->kind == JL_YAML_TEXT)
		for (const char *at = node->text; *at; at += jl_utf8_shown(at, shown)) {
			(void)jl_utf8_shown(at, shown);
			must(*shown == *at || *at == '\n' || *at == '\t');
		}
	for (const struct jl_yaml *item = node->kind == JL_YAML_TEXT ? NULL : node->items; item; item = item->next)
		look_at(item, n_lines, depth + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jl_yaml *root = NULL;
	struct jl_err err = { .en = "" };
	struct jl_arena arena;
	size_t n_lines = 1;
	char *text = malloc(size + 1);

	must(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	/* a line may also end with a carriage return, or as Unicode has it */
	for (size_t i = 0; i < size; i++)
		n_lines += strchr("\n\r\xc2\xe2", text[i]) != NULL;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_yaml_read(&root, "f", text, size, &arena, &err))
		must(err.en[0] && !strchr(err.en, '\n') && err.en[0] == 'f');
	else
		look_at(root, n_lines, 0);
	jl_arena_release(&arena);
	free(text);
	return 0;
}
