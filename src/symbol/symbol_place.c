/* SPDX-License-Identifier: MIT */
/* symbol_place.c - the order of addresses, and the texts of sources of names. */
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

int
symbol_place_compare(const struct symbol_place *a, const struct symbol_place *b)
{
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->bytecode.object != b->bytecode.object)
		return a->bytecode.object < b->bytecode.object ? -1 : 1;
	return (a->epoch > b->epoch) - (a->epoch < b->epoch);
}
