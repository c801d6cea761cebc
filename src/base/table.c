/* SPDX-License-Identifier: MIT */
/*
 * table.c - hash tables with open addressing: from pairs of 64-bit numbers to 32-bit values, and
 * from texts to ids.
 */
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* The finaliser of splitmix64 (G. Steele and others, OOPSLA 2014). */
uint64_t
hash_u64(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t
hash_bytes(const void *bytes, size_t size)
{
	uint64_t hash = size;

	for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
		const size_t left = size - done;
		uint64_t word = 0;

		memcpy(&word, (const uint8_t *)bytes + done,
		       left < sizeof(word) ? left : sizeof(word));
		hash = hash_u64(hash ^ word);
	}
	return hash;
}

/*
 * Returns the slot of the key (a, b), or the free slot where that key belongs. The table must have
 * a free slot.
 */
static struct table_slot *
table_slot(const struct table *table, uint64_t a, uint64_t b)
{
	size_t at = hash_u64(a ^ hash_u64(b)) & (table->capacity - 1);

	while (table->slots[at].used && (table->slots[at].a != a || table->slots[at].b != b))
		at = (at + 1) & (table->capacity - 1);
	return &table->slots[at];
}

static void
table_grow(struct table *table)
{
	struct table old = *table;

	table->capacity = old.capacity > 0 ? old.capacity * 2 : 64;
	table->slots = xcalloc(table->capacity, sizeof(*table->slots));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].used)
			*table_slot(table, old.slots[i].a, old.slots[i].b) = old.slots[i];
	free(old.slots);
}

void
table_init(struct table *table)
{
	memset(table, 0, sizeof(*table));
}

void
table_release(struct table *table)
{
	free(table->slots);
	table_init(table);
}

void
table_clear(struct table *table)
{
	table->count = 0;
	if (table->capacity > 0)
		memset(table->slots, 0, table->capacity * sizeof(*table->slots));
}

bool
table_find(const struct table *table, uint64_t a, uint64_t b, uint32_t *value)
{
	const struct table_slot *slot;

	if (table->count == 0)
		return false;
	slot = table_slot(table, a, b);
	if (slot->used)
		*value = slot->value;
	return slot->used;
}

uint32_t *
table_insert(struct table *table, uint64_t a, uint64_t b, uint32_t initial, bool *added)
{
	struct table_slot *slot;

	/*
	 * Grows before the slot is searched: a later growth would move the value that is returned.
	 */
	if (table->count + 1 > table->capacity / 4 * 3)
		table_grow(table);
	slot = table_slot(table, a, b);
	if (added != NULL)
		*added = !slot->used;
	if (!slot->used) {
		*slot = (struct table_slot){ .a = a, .b = b, .value = initial, .used = true };
		table->count++;
	}
	return &slot->value;
}

void *
table_row(struct table *table, const uint64_t key[2], void *rows, size_t *capacity, size_t size,
	  uint32_t *index)
{
	bool added;

	*index = *table_insert(table, key[0], key[1], (uint32_t)table->count, &added);
	if (!added)
		return rows;
	rows = xgrow(rows, capacity, table->count, size);
	memset((char *)rows + *index * size, 0, size);
	return rows;
}

/* --- interned text --------------------------------------------------------------------------- */

struct strings {
	struct table ids; /* (hash of a text, number of earlier texts with the same hash) -> id */
	char **text;      /* text[id] is owned */
	size_t capacity;  /* of `text`, in elements */
};

struct strings *
strings_create(void)
{
	return xcalloc(1, sizeof(struct strings));
}

void
strings_free(struct strings *strings)
{
	if (strings == NULL)
		return;
	for (size_t i = 0; i < strings->ids.count; i++)
		free(strings->text[i]);
	free(strings->text);
	table_release(&strings->ids);
	free(strings);
}

uint32_t
strings_intern(struct strings *strings, const char *text)
{
	const size_t length = strlen(text), count = strings->ids.count;
	const uint64_t hash = hash_bytes(text, length);
	bool added = false;
	uint32_t id = 0;

	for (uint64_t earlier = 0; !added; earlier++) {
		id = *table_insert(&strings->ids, hash, earlier, (uint32_t)count, &added);
		if (!added && strcmp(strings->text[id], text) == 0)
			return id;
	}
	strings->text = xgrow(strings->text, &strings->capacity, count + 1, sizeof(char *));
	strings->text[id] = xstrndup(text, length);
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
	return strings->ids.count;
}
