/* HTML escaping of text and quoted attributes. */
#pragma once

#include "document/doc.h"

void jl_html_escape(struct jl_buf *out, const char *text);
void jl_html_put(struct jl_buf *out, const char *before, const char *text,
		 const char *after); /* with markup around it */

/* data-origin, data-unit, data-value and data-source of a figure. `of`: counted object of a plain number; NULL: none. */
void jl_html_num_attributes(struct jl_buf *out, const struct jl_num *num, const char *of);

/* Parts of a page: text (words with digits and letters are names), a user's name, a figure, and a sentence of another module, whose figures
 * have its origin. */
void jl_html_text(struct jl_buf *out, const char *text);
void jl_html_name(struct jl_buf *out, const char *text);
/* `doc`: for the position of its source; NULL: no link. `marked` false: the column heading has the mark. */
void jl_html_num(struct jl_buf *out, const struct jl_num *num, const struct jl_doc *doc, bool marked);
void jl_html_said(struct jl_buf *out, const struct jl_run *run, const struct jl_doc *doc, bool marked);

/* The mark of an origin as SVG with alternative text; and the shared drawings, once per page. */
void jl_html_origin(struct jl_buf *out, enum jl_origin origin);
void jl_html_origin_shapes(struct jl_buf *out);
