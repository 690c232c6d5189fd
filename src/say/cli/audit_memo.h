#pragma once

#include "cli/command.h"

extern const char *const jl_audit_formats[]; /* "text", "md", "html", "sarif" */

/* Audits the note `text` and prints it as the options ask. */
enum jl_status jl_audit_memo(struct jl_cli *cli, const char *text, size_t len, struct jl_err *err);
