/* SPDX-License-Identifier: MIT */
/*
 * reader_names.c - reads the names of frames that a recording stores, and finds the names for an
 * address.
 */
#include <stdlib.h>
#include <string.h>

#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

/* The names of one place: elements of recorded_names.symbol, from the innermost function on. */
struct name_chain {
	uint32_t first, count;
};

struct recorded_names {
	struct strings *texts;
	struct table by_place; /* maps (module and epoch; key_of()) to an index in `chain` */
	struct name_chain *chain;
	size_t chain_capacity;
	struct symbol *symbol;
	size_t symbol_count, symbol_capacity;
};

struct recorded_names *
recorded_names_create(void)
{
	struct recorded_names *names = xcalloc(1, sizeof(*names));

	names->texts = strings_create();
	return names;
}

void
recorded_names_free(struct recorded_names *names)
{
	if (names == NULL)
		return;
	strings_free(names->texts);
	table_release(&names->by_place);
	free(names->chain);
	free(names->symbol);
	free(names);
}

/*
 * Returns the key of an address. Frames of an interpreter with the same address differ by the
 * bytecode that they execute.
 */
static uint64_t
key_of(uint64_t address, uint64_t bytecode, uint32_t size)
{
	return bytecode != 0 ? address + hash_u64(bytecode ^ (uint64_t)size << 48) : address;
}

size_t
recorded_names_find(const void *context, const struct symbol_place *place, struct symbol *out,
		    size_t most)
{
	const struct recorded_names *names = context;
	const struct name_chain *chain;
	size_t count;
	uint32_t at;

	if (!table_find(&names->by_place, (uint64_t)place->module << 32 | place->epoch,
			key_of(place->vaddr, place->bytecode.object, place->bytecode.size), &at))
		return 0;
	chain = &names->chain[at];
	count = chain->count < most ? chain->count : most;
	for (size_t i = 0; i < count; i++)
		out[i] = names->symbol[chain->first + i];
	/*
	 * The last symbol of the chain is the function into which the other symbols are inlined. It
	 * is always the last symbol that is returned, even if `most` is smaller than the chain.
	 */
	if (count > 0)
		out[count - 1] = names->symbol[chain->first + chain->count - 1];
	return count;
}

static enum symbol_source
source_of(const char *text)
{
	for (int source = 0; source <= SYMBOL_NONE; source++)
		if (strcmp(text, symbol_source_text((enum symbol_source)source)) == 0)
			return (enum symbol_source)source;
	return SYMBOL_SYMTAB;
}

static const char *
keep_name(struct recorded_names *names, const char *text)
{
	return strings_text(names->texts, strings_intern(names->texts, text));
}

static void
add_symbol(struct recorded_names *names, const struct symbols_row *row, struct name_chain *chain)
{
	names->symbol = xgrow(names->symbol, &names->symbol_capacity, names->symbol_count + 1,
			      sizeof(*names->symbol));
	names->symbol[names->symbol_count++] = (struct symbol){
		.function = keep_name(names, row->function),
		.module = "",
		.file = row->file != NULL ? keep_name(names, row->file) : NULL,
		.line = (uint32_t)row->line,
		.inlined = row->inlined != 0,
		.source = source_of(row->source),
		.known = strcmp(row->source, symbol_source_text(SYMBOL_NONE)) != 0,
	};
	chain->count++;
}

struct naming_of_frames {
	const struct recording *recording;
	const struct profile *profile;
	struct recorded_names *names;
	int64_t last; /* id of the frame in the previous row; -1 before the first row */
	/*
	 * chain that gets the names of the frame `last`; NULL if another frame at the same place
	 * has already given the chain its names
	 */
	struct name_chain *chain;
};

static void
load_symbol(struct rows *rows, void *context)
{
	const struct symbols_row *row = &rows->row.symbols;
	struct naming_of_frames *naming = context;
	const struct id_map *frames = &naming->recording->map[TABLE_FRAMES];
	struct recorded_names *names = naming->names;
	uint32_t at;

	if ((size_t)row->frame >= frames->count) {
		rows->bad = true;
		return;
	}
	if (row->frame != naming->last) {
		const struct profile_frame *frame = profile_frame(naming->profile,
								  frames->id[row->frame]);
		const uint64_t key[] = {
			(uint64_t)frame->module << 32 | frame->epoch,
			key_of(frame->address, frame->bytecode, frame->bytecode_size),
		};

		names->chain = table_row(&names->by_place, key, names->chain,
					 &names->chain_capacity, sizeof(*names->chain), &at);
		/*
		 * Two frames at the same place have the same names, so only the first frame's names
		 * are added.
		 */
		naming->chain = names->chain[at].count == 0 ? &names->chain[at] : NULL;
		if (naming->chain != NULL)
			naming->chain->first = (uint32_t)names->symbol_count;
	}
	naming->last = row->frame;
	if (naming->chain != NULL && naming->chain->count < SYMBOL_CHAIN_MAX)
		add_symbol(naming->names, row, naming->chain);
}

int
reader_load_names(struct recording *recording, struct recorded_names *names,
		  const struct profile *profile, struct error *err)
{
	static const struct row_reader reader = { TABLE_SYMBOLS, "names", load_symbol };
	struct naming_of_frames naming = {
		.recording = recording,
		.profile = profile,
		.names = names,
		.last = -1,
	};

	return rows_read(recording, &reader, 1, &naming, err);
}
