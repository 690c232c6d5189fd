/* Traces of requests, as tables and as JSON lines: what is read is in order and in range; what is not has a message of one line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "serve/load.h"

extern size_t fuzz_taken __attribute__((weak)); /* generate.c: how many were taken */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jl_arrival *arrivals = NULL;
	struct jl_err err = { 0 };
	size_t n = 0;
	bool has_arrivals = false;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (jl_arrivals_read(&arrivals, &n, &has_arrivals, text, size, "a.csv", &err))
		must(err.en[0] && !strchr(err.en, '\n') && !strchr(err.text, '\n'));
	if (n && &fuzz_taken)
		fuzz_taken++;
	for (size_t i = 0; i < n; i++)
		must(arrivals[i].prompt >= 1 && arrivals[i].answer >= 1 && arrivals[i].at_s >= 0 &&
		     (i == 0 || arrivals[i].at_s >= arrivals[i - 1].at_s));
	jl_free(arrivals);
	free(text);
	return 0;
}
