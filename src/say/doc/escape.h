/* What goes between tags or into quoted attributes, made harmless. */
#pragma once

#include "doc/doc.h"

void jl_html_escape(struct jl_buf *out, const char *text);

/* data-origin, data-unit, data-value and data-source of a figure. `of`: what a plain number counts; NULL: nothing. */
void jl_html_num_attributes(struct jl_buf *out, const struct jl_num *num, const char *of);

/* The parts of a page: text (a word with digits and letters in it is a name), what somebody called a thing, a figure, and a sentence of
 * another room, whose figures have the origin that it came with. */
void jl_html_text(struct jl_buf *out, const char *text);
void jl_html_name(struct jl_buf *out, const char *text);
void jl_html_num(struct jl_buf *out, const struct jl_num *num);
void jl_html_said(struct jl_buf *out, const struct jl_run *run);
