/* SPDX-License-Identifier: MIT */
/* go_words.c - names of the reasons to wait, and which goroutines belong to the runtime itself. */
#include <stdlib.h>
#include <string.h>

#include "runtime/go/go_internal.h"

/* --- reasons ----------------------------------------------------------------------------- */

/*
 * Reads reason number `index` from its string header, an address and a length. Returns false when
 * there is no readable and plausible text; only reason 0 may be empty.
 */
static bool
read_reason(struct go_runtime *go, size_t index)
{
	const struct memory *memory = &go->base.tools->memory;
	char *text = go->reason[index];
	uint64_t string[2];

	if (!memory_read(memory, go->home.reasons + index * sizeof(string), string,
			 sizeof(string)) ||
	    string[1] >= GO_REASON_TEXT)
		return false;
	if (string[1] == 0)
		return index == 0;
	if (!memory_read(memory, string[0], text, (size_t)string[1]) ||
	    !go_is_printable(text, (size_t)string[1])) {
		text[0] = '\0';
		return false;
	}
	text[string[1]] = '\0';
	return true;
}

void
go_words_read_reasons(struct go_runtime *go)
{
	size_t count = go->home.reason_count < GO_REASONS_MOST ? go->home.reason_count :
								 GO_REASONS_MOST;

	if (go->reasons_read || go->home.reasons == 0)
		return;
	go->reasons_read = true;
	for (size_t i = 0; i < count && read_reason(go, i); i++)
		continue;
}

/* Most entry functions in the cache go->own: their addresses come from the target's memory, which
 * is not trusted. */
#define OWN_MOST 65536

/* --- goroutines of the runtime ----------------------------------------------------------- */

/* Functions of the package runtime that are entry functions of goroutines of the program
 * (runtime/traceback.go: isSystemGoroutine). */
static const char *const not_own[] = { "runtime.main", "runtime.handleAsyncEvent",
				       "runtime.corostart" };

static bool
is_own_name(const char *name)
{
	if (strncmp(name, "runtime.", strlen("runtime.")) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(not_own); i++)
		if (strcmp(name, not_own[i]) == 0)
			return false;
	return true;
}

static bool
look_up_entry(struct go_runtime *go, uint64_t entry)
{
	struct pclntab_function function;
	struct strbuf name = STRBUF_INIT;
	bool own = false;

	if (!go->table_sought) {
		const struct modules *modules = maps_modules(go->base.tools->config->maps);

		go->table_sought = true;
		go->table = pclntab_open(modules_at(modules, go->home.module)->image);
	}
	if (go->table == NULL || !pclntab_find(go->table, entry - go->home.bias, &function))
		return false;
	if (pclntab_name(go->table, function.name, &name))
		own = is_own_name(name.data);
	strbuf_release(&name);
	return own;
}

bool
go_words_is_own(struct go_runtime *go, uint64_t entry)
{
	uint32_t own;

	if (entry == 0)
		return false;
	if (!table_find(&go->own, entry, 0, &own)) {
		/*
		 * While all threads are kept stopped (tools->held), only the cache is used: a
		 * look-up of a name reads the file.
		 */
		if (go->base.tools->held)
			return false;
		own = look_up_entry(go, entry);
		if (go->own.count < OWN_MOST)
			table_insert(&go->own, entry, 0, own, NULL);
	}
	return own != 0;
}

void
go_words_release(struct go_runtime *go)
{
	pclntab_free(go->table);
	table_release(&go->own);
}
