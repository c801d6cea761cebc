/* SPDX-License-Identifier: MIT */
/* python_text.c - reads str and bytes objects of CPython from the target's memory. */
#include "runtime/python/python_layout_internal.h"

#include <stdlib.h>

#include "wallsample/base/bytes.h"
#include "wallsample/base/utf8.h"

/* The flags of a str object, which describe how it stores its characters. */
struct text_form {
	uint32_t width; /* bytes per character: 1, 2 or 4 */
	bool compact;   /* the characters follow the object; else a pointer to them follows it */
	bool ascii;     /* all characters are ASCII */
};

uint64_t
python_pointer(const struct memory *memory, uint64_t address, uint32_t offset)
{
	uint64_t value;

	return offset != MEMBER_ABSENT &&
			       memory_read(memory, address + offset, &value, sizeof(value)) ?
		       value :
		       0;
}

/*
 * Decodes the flags in `state` of a str object, which follow the bit field `interned`. That field
 * has 2 bits, or in free-threaded builds 8 or (3.14) 16 bits: the three positions of the flags are
 * tried, lowest first. At a position inside of `interned` the width reads as 0, because the value
 * of `interned` is below 4. Returns false when the flags are not valid.
 */
static bool
decode_form(uint32_t state, struct text_form *form)
{
	static const unsigned shift[] = { 2, 8, 16 };

	for (size_t i = 0; i < ARRAY_SIZE(shift); i++) {
		uint32_t flags = state >> shift[i];

		form->width = flags & 7;
		form->compact = (flags >> 3 & 1) != 0;
		form->ascii = (flags >> 4 & 1) != 0;
		if (form->width == 1 || ((form->width == 2 || form->width == 4) && !form->ascii))
			return true;
		if (form->width != 0)
			return false;
	}
	return false;
}

/* Returns the address of the characters; 0: not readable. */
static uint64_t
find_characters(const struct python_layout *layout, const struct memory *memory, uint64_t address,
		const struct text_form *form)
{
	/* Only objects of classes derived from str are not compact: they have a pointer to the
	 * characters. */
	if (!form->compact)
		return python_pointer(memory, address, layout->text_compact);
	return address + (form->ascii ? layout->text_ascii : layout->text_compact);
}

static void
add_character(struct strbuf *to, uint32_t c)
{
	char utf8[4];

	if (c == 0)
		strbuf_add_text(to, "\\x00");
	else if (c > 0x10ffff)
		strbuf_add_format(to, "\\U%08x", c);
	else if (c >= 0xd800 && c < 0xe000)
		strbuf_add_format(to, "\\u%04x", c);
	else
		strbuf_add(to, utf8, utf8_encode(c, utf8));
}

bool
python_text_read(const struct python_layout *layout, const struct memory *memory, uint64_t address,
		 size_t most, struct strbuf *to)
{
	struct text_form form;
	uint64_t length;
	uint32_t state;
	uint8_t *bytes;
	size_t count;
	bool good;

	if (!memory_read(memory, address + layout->text_length, &length, sizeof(length)) ||
	    !memory_read(memory, address + layout->text_state, &state, sizeof(state)) ||
	    length > INT64_MAX || !decode_form(state, &form))
		return false;
	if (most > PYTHON_TEXT_MOST)
		most = PYTHON_TEXT_MOST;
	count = length > most ? most : (size_t)length;
	if (count == 0) {
		strbuf_add_text(to, length > 0 ? "…" : "");
		return true;
	}
	bytes = xmalloc(count * form.width);
	good = memory_read(memory, find_characters(layout, memory, address, &form), bytes,
			   count * form.width);
	for (size_t i = 0; good && i < count; i++)
		add_character(to, (uint32_t)bytes_little(bytes + i * form.width, form.width));
	if (good && length > count)
		strbuf_add_text(to, "…");
	free(bytes);
	return good;
}

uint8_t *
python_bytes_read(const struct python_layout *layout, const struct memory *memory, uint64_t address,
		  size_t most, size_t *size)
{
	uint64_t length;
	uint8_t *bytes;

	if (!memory_read(memory, address + layout->bytes_size, &length, sizeof(length)) ||
	    length > most)
		return NULL;
	bytes = xmalloc((size_t)length + 1);
	if (length > 0 &&
	    !memory_read(memory, address + layout->bytes_data, bytes, (size_t)length)) {
		free(bytes);
		return NULL;
	}
	*size = (size_t)length;
	return bytes;
}
