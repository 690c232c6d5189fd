/* Requests in JSON: whatever comes, an answer or one line, and never a file of this machine. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "request/ask.h"
#include "cli/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jl_ask ask = {
		.front = &jl_cli_front, .cat = jl_catalog_embedded(), .today = 20772, .limit_s = 0.05
	};
	struct jl_answer answer;

	jl_ask(&answer, &ask, NULL, (const char *)data, size);
	assert(answer.code >= 0 && answer.code <= 3);
	if (answer.code == 1 || answer.code == 2)
		assert(answer.err.en[0] && !strchr(answer.err.en, '\n'));
	assert(!answer.out.data || !strstr(answer.out.data, "root:x:0"));
	jl_answer_release(&answer);
	return 0;
}
