/* What a used card is worth: from the dated second-hand prices of the catalog against the list prices at launch. */
#pragma once

#include "catalog/catalog.h"

struct jl_resale { /* of its price, what a card keeps from one year to the next; 80 % of the cards lie between lo and hi */
	double yearly_frac, lo, hi;
	size_t n_cards;
};

struct jl_resale jl_resale_curve(const struct jl_catalog *cat);
