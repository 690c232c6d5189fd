/* Any bytes as messages of the wire, those of collectives and those of `bench net`: refused, or a message whose every number is one that the
 * word allows, whose text can be printed, and that reads the same when it is written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "comm/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void look_at(const struct jl_wire_message *m)
{
	must(m->word >= JL_WIRE_HELLO && m->word < JL_N_WIRE_WORD);
	must(memchr(m->text, '\0', sizeof(m->text)) != NULL);
	for (const char *at = m->text; *at; at++)
		must(*at >= ' ' && *at <= '~');
	if (m->word == JL_WIRE_WELCOME)
		must(m->n[1] >= 1 && m->n[1] < JL_COMM_TCP_RANKS_MAX && m->n[2] >= 2 &&
		     m->n[2] <= JL_COMM_TCP_RANKS_MAX);
	if (m->word == JL_WIRE_TEST)
		must(m->n[0] >= 1 && m->n[0] <= 3 && m->n[1] >= 1 && m->n[1] <= JL_WIRE_STREAMS_MAX &&
		     m->n[2] <= JL_WIRE_TIME_MAX_MS);
	if (m->word == JL_WIRE_REPORT)
		must(m->n[0] <= JL_WIRE_RATES_MAX);
	if (m->word == JL_WIRE_PEER || m->word == JL_WIRE_GONE)
		must(m->n[0] < JL_COMM_TCP_RANKS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (; size; data += size < JL_WIRE_MESSAGE_B ? size : JL_WIRE_MESSAGE_B,
		     size -= size < JL_WIRE_MESSAGE_B ? size : JL_WIRE_MESSAGE_B) {
		unsigned char bytes[JL_WIRE_MESSAGE_B] = { 'j', 'e', 'o', 'u', 'l', 't', 'c', 'p' },
			      again[JL_WIRE_MESSAGE_B];
		struct jl_wire_message m, same;
		struct jl_err err = { .en = "" };

		/* nearly every input would end at the first eight bytes */
		memcpy(bytes + (size & 1 ? 0 : 8), data, size < JL_WIRE_MESSAGE_B - 8 ? size : JL_WIRE_MESSAGE_B - 8);
		if (jl_wire_unpack(bytes, &m, &err)) {
			must(err.en[0] && err.text[0]);
			continue;
		}
		if (m.version != JL_WIRE_VERSION)
			continue;
		look_at(&m);
		jl_wire_pack(again, &m);
		must(jl_wire_unpack(again, &same, NULL) == JL_OK && memcmp(&m, &same, sizeof(m)) == 0);
	}
	return 0;
}
