/* SPDX-License-Identifier: MIT */
/*
 * table.h - two hash tables: pairs of 64-bit keys to 32-bit values, and interned text.
 *
 * Entries cannot be removed one by one. Keys and texts are copied.
 */
#ifndef WALLSAMPLE_BASE_TABLE_H
#define WALLSAMPLE_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mixes 64 bits so that every input bit moves every output bit. */
uint64_t hash_u64(uint64_t x);

/* --- uint64 pair -> uint32 ------------------------------------------------- */

struct table_slot {
	uint64_t a, b; /* the key */
	uint32_t value;
	bool used;
};

struct table {
	struct table_slot *slots; /* a power of two of them, at most 3/4 used */
	size_t capacity;
	size_t count;
};

void table_init(struct table *table);
void table_release(struct table *table);
void table_clear(struct table *table);
/* Stores the value of (a, b) in *value; false when the table does not contain the key. */
bool table_find(const struct table *table, uint64_t a, uint64_t b, uint32_t *value);
/*
 * Returns a pointer to the value of (a, b), valid until the next call of table_insert. A key that
 * is not in the table is added with the value `fresh`; *added (may be NULL) reports that.
 */
uint32_t *table_insert(struct table *table, uint64_t a, uint64_t b, uint32_t fresh, bool *added);

/* --- interned text ----------------------------------------------------------- */

struct strings; /* text -> id: 0, 1, 2, … in the order of the first strings_intern */

struct strings *strings_create(void);
void strings_free(struct strings *strings);
uint32_t strings_intern(struct strings *strings, const char *text);
/* The text of an id that strings_intern returned; valid until strings_free. */
const char *strings_text(const struct strings *strings, uint32_t id);
size_t strings_count(const struct strings *strings);

#endif
