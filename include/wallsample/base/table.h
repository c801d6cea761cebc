/* SPDX-License-Identifier: MIT */
/*
 * table.h - hash tables: from pairs of 64-bit numbers to 32-bit values, and from texts to ids.
 *
 * Single entries cannot be removed. The tables of texts own copies of the texts.
 */
#ifndef WALLSAMPLE_BASE_TABLE_H
#define WALLSAMPLE_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hashes 64 bits: each input bit changes each output bit with a probability of about 1/2. */
uint64_t hash_u64(uint64_t x);

/* Returns a hash of the bytes, for tables. It is not cryptographic. */
uint64_t hash_bytes(const void *bytes, size_t size);

/* --- uint64 pair -> uint32 ------------------------------------------------- */

struct table_slot {
	uint64_t a, b; /* the key */
	uint32_t value;
	bool used;
};

/* A table whose bytes are all zero is empty. */
struct table {
	struct table_slot *slots; /* an array of `capacity` slots, at most 3/4 of them used */
	size_t capacity;          /* number of slots: 0 or a power of two */
	size_t count;             /* used slots */
};

/* Initializes an empty table: sets all its bytes to zero. Frees nothing. */
void table_init(struct table *table);
void table_release(struct table *table);
/* Removes all entries and keeps the memory. */
void table_clear(struct table *table);
/* Stores the value of the key (a, b) in *value. Returns false if the table has no such key. */
bool table_find(const struct table *table, uint64_t a, uint64_t b, uint32_t *value);
/*
 * Adds the key (a, b) with the value `initial` unless the table has the key. Returns a pointer to
 * the value, valid until the table is changed or released. Stores in *added, unless `added` is
 * NULL, whether the key was added.
 */
uint32_t *table_insert(struct table *table, uint64_t a, uint64_t b, uint32_t initial, bool *added);
/*
 * Finds the row of a key in an array that has one row for each key of the table, in the order in
 * which the keys were added. A new key gets a zeroed row of `size` bytes. Stores the index of the
 * row in *index and returns the array, which may have moved; *capacity is the number of allocated
 * rows, as in xgrow (base.h).
 */
void *table_row(struct table *table, const uint64_t key[2], void *rows, size_t *capacity,
		size_t size, uint32_t *index);

/* --- interned text ----------------------------------------------------------- */

/* A set of texts. Texts have the ids 0, 1, 2, … in the order in which they were first interned. */
struct strings;

struct strings *strings_create(void);
void strings_free(struct strings *strings); /* accepts NULL */
/* Returns the id of the text. Equal texts have the same id. */
uint32_t strings_intern(struct strings *strings, const char *text);
/* Returns the text of an id; valid until strings_free. */
const char *strings_text(const struct strings *strings, uint32_t id);
size_t strings_count(const struct strings *strings);

#endif
