/* What goes between tags or into quoted attributes, made harmless. */
#pragma once

#include "document/doc.h"

void jl_html_escape(struct jl_buf *out, const char *text);
void jl_html_put(struct jl_buf *out, const char *before, const char *text, const char *after); /* markup around it */

/* data-origin, data-unit, data-value and data-source of a figure. `of`: what a plain number counts; NULL: nothing. */
void jl_html_num_attributes(struct jl_buf *out, const struct jl_num *num, const char *of);

/* The parts of a page: text (a word with digits and letters in it is a name), a name given by the user, a figure, and a sentence of
 * another room, whose figures have the origin that it came with. */
void jl_html_text(struct jl_buf *out, const char *text);
void jl_html_name(struct jl_buf *out, const char *text);
/* `doc`: where its source has a place; NULL: nowhere. `marked` false: the mark stands elsewhere, in the head of the column. */
void jl_html_num(struct jl_buf *out, const struct jl_num *num, const struct jl_doc *doc, bool marked);
void jl_html_said(struct jl_buf *out, const struct jl_run *run, const struct jl_doc *doc, bool marked);

/* The mark of an origin, drawn, with its word for who does not see it; and once in a page the drawings themselves. */
void jl_html_origin(struct jl_buf *out, enum jl_origin origin);
void jl_html_origin_shapes(struct jl_buf *out);
