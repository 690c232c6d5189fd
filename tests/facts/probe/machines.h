/* Captured machines of tests/fixtures. */
#ifndef TESTS_PROBE_MACHINES_H
#define TESTS_PROBE_MACHINES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "probe/probe.h"

#define MACHINES JL_SOURCE_DIR "/tests/fixtures/machines/"

static inline const struct jl_probe_machine *read_machine(const char *name, struct jl_arena *arena)
{
	const struct jl_probe_machine *machine = NULL;
	struct jl_probe_source *source = NULL;
	struct jl_err err = { 0 };
	char path[1024];

	snprintf(path, sizeof(path), MACHINES "%s", name);
	if (jl_source_replay(&source, path, arena, &err) ||
	    jl_probe_machine(source, jl_catalog_embedded(), NULL, arena, &machine, &err))
		fail_msg("%s: %s", path, err.en);
	jl_source_destroy(source);
	return machine;
}

/* Reads a capture with one text of machine.txt replaced. */
static inline const struct jl_probe_machine *read_changed(const char *name, const char *from, const char *to,
							  struct jl_arena *arena)
{
	const struct jl_probe_machine *machine = NULL;
	struct jl_probe_source *source = NULL;
	struct jl_buf text = { 0 }, nvml = { 0 }, changed;
	struct jl_err err = { 0 };
	const char *at, *found;
	char path[1024];

	snprintf(path, sizeof(path), MACHINES "%s/machine.txt", name);
	assert_int_equal(jl_buf_read_file(&text, path, JL_SOURCE_CAPTURE_MAX_B, &err), JL_OK);
	snprintf(path, sizeof(path), MACHINES "%s/nvml.json", name);
	assert_int_equal(jl_buf_read_file(&nvml, path, JL_SOURCE_CAPTURE_MAX_B, &err), JL_OK);
	jl_buf_init(&changed, JL_SOURCE_CAPTURE_MAX_B);
	assert_non_null(strstr(jl_buf_text(&text), from));
	for (at = jl_buf_text(&text); (found = strstr(at, from)) != NULL; at = found + strlen(from)) {
		jl_buf_add(&changed, at, (size_t)(found - at));
		jl_buf_puts(&changed, to);
	}
	jl_buf_puts(&changed, at);
	if (jl_source_replay_text(&source, name, jl_buf_text(&changed), changed.len, jl_buf_text(&nvml), nvml.len,
				  arena, &err) ||
	    jl_probe_machine(source, jl_catalog_embedded(), NULL, arena, &machine, &err))
		fail_msg("%s: %s", name, err.en);
	jl_source_destroy(source);
	jl_buf_release(&text);
	jl_buf_release(&nvml);
	jl_buf_release(&changed);
	return machine;
}

#endif
