/* Reader of program files (docs/PROGRAM.md): strict and bounded, as files are untrusted. Knows no devices. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "program/program.h"

/* Parses `text` of `len` bytes; `file` is its name in messages. The result is in the arena and does not refer to the text. */
enum jl_status jl_program_read(struct jl_program *ret_program, const char *text, size_t len, const char *file,
			       struct jl_arena *arena, struct jl_err *err);

/* True if the first bytes are those of a program file. */
bool jl_program_is(const char *text, size_t len);
