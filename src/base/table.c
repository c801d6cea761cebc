/* SPDX-License-Identifier: MIT */
/* table.c - pairs of 64-bit numbers to 32-bit values: open addressing. */
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

/* Returns the slot of (a, b), or the free slot for it. The table must have a free slot. */
static struct table_slot *
slot_of(const struct table *table, uint64_t a, uint64_t b)
{
	size_t at = hash_u64(a ^ hash_u64(b)) & (table->capacity - 1);

	while (table->slots[at].used && (table->slots[at].a != a || table->slots[at].b != b))
		at = (at + 1) & (table->capacity - 1);
	return &table->slots[at];
}

static void
grow(struct table *table)
{
	struct table old = *table;

	table->capacity = old.capacity > 0 ? old.capacity * 2 : 64;
	table->slots = xcalloc(table->capacity, sizeof(*table->slots));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].used)
			*slot_of(table, old.slots[i].a, old.slots[i].b) = old.slots[i];
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
	slot = slot_of(table, a, b);
	if (slot->used)
		*value = slot->value;
	return slot->used;
}

uint32_t *
table_insert(struct table *table, uint64_t a, uint64_t b, uint32_t fresh, bool *added)
{
	struct table_slot *slot;

	/* Grows before the search, so that the returned pointer stays valid. */
	if (table->count + 1 > table->capacity / 4 * 3)
		grow(table);
	slot = slot_of(table, a, b);
	if (added != NULL)
		*added = !slot->used;
	if (!slot->used) {
		*slot = (struct table_slot){ .a = a, .b = b, .value = fresh, .used = true };
		table->count++;
	}
	return &slot->value;
}
