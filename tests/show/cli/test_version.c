/* The rows of commands: --version fits the terminal whatever this build has or lacks; an option stands once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "cli/command.h"

static void test_width(void **state)
{
	static const struct jl_built_with parts[] = {
		{ "cuda", "", "bench, bench train (kernels)",
		  "a CUDA toolkit of this decade, with nvcc on the PATH of whoever builds it" },
		{ "libmicrohttpd", "", "", "libmicrohttpd-dev" },
		{ "cuda", "13.0", "bench, bench train (kernels)", "" },
		{ "hwloc", "2.9.0", "", "" },
		{ "openblas", "0.3.21+really-long-version",
		  "bench (opened at run time), bench train, and the rest of it", "" },
		{ "mpi", "4.1.4",
		  "bench (module jeoul-mpi.so), bench allreduce, bench cluster and whatever else there is", "" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(parts) / sizeof(*parts); i++) {
		const struct jl_built_with *p = &parts[i / 2];
		struct jl_cli cli = { .width = 80 };
		char flat[1024] = "";
		size_t len = 0;
		char *line;

		jl_buf_init(&cli.out, 4096);
		jl_version_part(&cli, p);
		for (char *text = (char *)(uintptr_t)jl_buf_text(&cli.out); (line = strsep(&text, "\n")) != NULL;) {
			assert_true(jl_utf8_width(line) <= 80);
			len += (size_t)snprintf(flat + len, sizeof(flat) - len, " %s", line + strspn(line, " "));
			assert_true(len < sizeof(flat));
		}
		assert_non_null(strstr(flat, p->name));
		assert_non_null(strstr(flat, *p->version ? *p->used_by ? p->used_by : p->version : p->reason));
		jl_buf_release(&cli.out);
	}
}

/* Two options of one name would each take the other's word. */
static void test_options_once(void **state)
{
	(void)state;
	for (const struct jl_command *c = jl_commands; c->name; c++)
		for (const struct jl_option *a = c->options; a && a->name; a++)
			for (const struct jl_option *b = a + 1; b->name; b++)
				if (strcmp(a->name, b->name) == 0 || (a->letter && a->letter == b->letter))
					fail_msg("%s has --%s twice", c->name, a->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_width), cmocka_unit_test(test_options_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
