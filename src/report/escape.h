/* Text that goes between tags or into quoted attributes, made harmless. */
#ifndef JL_REPORT_ESCAPE_H
#define JL_REPORT_ESCAPE_H

#include "base/buf.h"

void jl_html_escape(struct jl_buf *out, const char *text);

#endif
