/* The reader of program files (docs/PROGRAM.md): strict and bounded; nothing of a file is trusted. It knows no devices. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "program/program.h"

/* `text` of `len` bytes, called `file` in messages. What it returns lies in the arena, the text may go. */
enum jl_status jl_program_read(struct jl_program *ret_program, const char *text, size_t len, const char *file,
			       struct jl_arena *arena, struct jl_err *err);

/* Does a file of a model look like one, by its first bytes? */
bool jl_program_is(const char *text, size_t len);
