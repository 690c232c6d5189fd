/* Any line as a record: refused with a message, or written again and read again it is the same line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jl_err err = { .en = "" };
	struct jl_record first, second;
	struct jl_arena arena;
	struct jl_buf once, twice;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_buf_init(&once, JL_RECORD_TEXT_MAX_B);
	jl_buf_init(&twice, JL_RECORD_TEXT_MAX_B);
	if (jl_record_read((const char *)data, size, &arena, &first, &err)) {
		must(err.en[0] != '\0' && err.text[0] != '\0');
		goto out;
	}
	must(jl_record_check(&first, &err) == JL_OK);
	jl_record_write(&first, &once);
	must(!once.failed && !strchr(once.data, '\n'));
	must(jl_record_read(once.data, once.len, &arena, &second, &err) == JL_OK);
	jl_record_write(&second, &twice);
	must(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
out:
	jl_buf_release(&once);
	jl_buf_release(&twice);
	jl_arena_release(&arena);
	return 0;
}
