/* SPDX-License-Identifier: MIT */
/*
 * symbol_place.c - the texts of SYMBOL_SOURCES, by which reports and recordings call the sources of
 * names.
 */
#include "wallsample/symbol/symbol.h"

const char *
symbol_source_text(enum symbol_source source)
{
	static const char *const texts[] = {
#define X(name, text) [SYMBOL_##name] = text,
		SYMBOL_SOURCES(X)
#undef X
	};

	return texts[source];
}
