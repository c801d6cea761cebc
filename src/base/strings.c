/* SPDX-License-Identifier: MIT */
/* strings.c - interned text: equal texts have the same id. */
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

#define EMPTY UINT32_MAX

struct strings {
	char **text;    /* by number */
	uint64_t *hash; /* of each text, so that rehashing reads no text */
	size_t count, text_capacity, hash_capacity;
	uint32_t *slots; /* a power of two of numbers or EMPTY, at most 3/4 used */
	size_t slot_count;
};

static uint64_t
hash_text(const char *text, size_t length)
{
	uint64_t hash = length;

	for (size_t done = 0; done < length; done += sizeof(uint64_t)) {
		uint64_t word = 0;
		size_t left = length - done;

		memcpy(&word, text + done, left < sizeof(word) ? left : sizeof(word));
		hash = hash_u64(hash ^ word);
	}
	return hash;
}

static void
make_slots(struct strings *strings, size_t count)
{
	free(strings->slots);
	strings->slots = xmalloc(count * sizeof(*strings->slots));
	strings->slot_count = count;
	memset(strings->slots, 0xff, count * sizeof(*strings->slots));
	for (uint32_t id = 0; id < strings->count; id++) {
		size_t at = strings->hash[id] & (count - 1);

		while (strings->slots[at] != EMPTY)
			at = (at + 1) & (count - 1);
		strings->slots[at] = id;
	}
}

struct strings *
strings_create(void)
{
	struct strings *strings = xcalloc(1, sizeof(*strings));

	make_slots(strings, 64);
	return strings;
}

void
strings_free(struct strings *strings)
{
	if (strings == NULL)
		return;
	for (size_t i = 0; i < strings->count; i++)
		free(strings->text[i]);
	free(strings->text);
	free(strings->hash);
	free(strings->slots);
	free(strings);
}

uint32_t
strings_intern(struct strings *strings, const char *text)
{
	size_t length = strlen(text);
	uint64_t hash = hash_text(text, length);
	size_t at = hash & (strings->slot_count - 1);
	uint32_t id;

	while ((id = strings->slots[at]) != EMPTY) {
		if (strings->hash[id] == hash && strcmp(strings->text[id], text) == 0)
			return id;
		at = (at + 1) & (strings->slot_count - 1);
	}
	id = (uint32_t)strings->count++;
	strings->slots[at] = id;
	strings->text = xgrow(strings->text, &strings->text_capacity, strings->count,
			      sizeof(*strings->text));
	strings->hash = xgrow(strings->hash, &strings->hash_capacity, strings->count,
			      sizeof(*strings->hash));
	strings->text[id] = xstrndup(text, length);
	strings->hash[id] = hash;
	if (strings->count > strings->slot_count / 4 * 3)
		make_slots(strings, strings->slot_count * 2);
	return id;
}

const char *
strings_text(const struct strings *strings, uint32_t id)
{
	return strings->text[id];
}

size_t
strings_count(const struct strings *strings)
{
	return strings->count;
}
