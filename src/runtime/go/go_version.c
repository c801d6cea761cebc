/* SPDX-License-Identifier: MIT */
/* go_version.c - reads and parses the version of Go that a program was built with. */
#include <string.h>

#include "runtime/go/go_find_internal.h"
#include "wallsample/base/base.h"

/* debug/buildinfo: 14 magic bytes, the size of pointers, flags. */
#define MARK "\xff Go buildinf:"
#define MARK_SIZE 14
#define POINTER_AT 14
#define FLAGS_AT 15
#define HEAD_SIZE 32
#define BIG_ENDIAN_FLAG 1
#define INLINE_FLAG 2 /* Go 1.18 and later: a length and the text follow the header */

static bool
is_version_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return length > 0;
}

static bool
go_version_copy(const struct memory *memory, uint64_t address, uint64_t length,
		char text[GO_VERSION_TEXT])
{
	/* Names of experiments may follow the version. */
	const size_t size = length < GO_VERSION_TEXT - 1 ? (size_t)length : GO_VERSION_TEXT - 1;

	if (!memory_read(memory, address, text, size) || !is_version_text(text, size))
		return false;
	text[size] = '\0';
	return true;
}

/* Up to Go 1.17: a pointer to a string, which consists of a pointer and a length. */
static bool
follow_pointer(const struct memory *memory, const uint8_t head[HEAD_SIZE],
	       char text[GO_VERSION_TEXT])
{
	uint64_t string[2];

	return head[POINTER_AT] == sizeof(uint64_t) && (head[FLAGS_AT] & BIG_ENDIAN_FLAG) == 0 &&
	       memory_read(memory, go_word(head, 16), string, sizeof(string)) &&
	       go_version_copy(memory, string[0], string[1], text);
}

bool
go_version_read(const struct memory *memory, uint64_t address, char text[GO_VERSION_TEXT])
{
	uint8_t head[HEAD_SIZE], length;

	if (!memory_read(memory, address, head, sizeof(head)))
		return false;
	if (memcmp(head, MARK, MARK_SIZE) != 0)
		return go_version_copy(memory, go_word(head, 0), go_word(head, sizeof(uint64_t)),
				       text) &&
		       strncmp(text, "go1.", strlen("go1.")) == 0;
	if ((head[FLAGS_AT] & INLINE_FLAG) == 0)
		return follow_pointer(memory, head, text);
	/* The length is a varint; a version's length has one byte. */
	return memory_read(memory, address + HEAD_SIZE, &length, 1) && length < 0x80 &&
	       go_version_copy(memory, address + HEAD_SIZE + 1, length, text);
}

static bool
parse_number(const char **at, uint32_t *value)
{
	uint64_t number;

	if (**at < '0' || **at > '9' || !parse_u64(at, 10, &number) || number > 999)
		return false;
	*value = (uint32_t)number;
	return true;
}

bool
go_version_parse(const char *text, uint32_t *minor, uint32_t *patch, bool *released)
{
	const char *at = strstr(text, "go1.");

	*patch = 0;
	if (at == NULL)
		return false;
	*released = at == text;
	at += strlen("go1.");
	if (!parse_number(&at, minor))
		return false;
	if (at[0] == '.') {
		at++;
		return parse_number(&at, patch);
	}
	/* "rc1" has the layout of the release, though not always; "-" marks a private build. */
	*released = *released && *at != '-';
	return true;
}
