/* SPDX-License-Identifier: MIT */
/* container_id.c - ids of containers in the paths of control groups. */
#include "process/process_groups_internal.h"

#include <string.h>

#define SCOPE ".scope"
/* The monitor of a container of Podman or CRI-O: "libpod-conmon-ID.scope". */
#define MONITOR "conmon-"

static bool
ends_with(const char *text, size_t length, const char *end)
{
	const size_t size = strlen(end);

	return length >= size && memcmp(text + length - size, end, size) == 0;
}

static bool
all_hexadecimal(const char *text, size_t length)
{
	return strspn(text, "0123456789abcdef") >= length;
}

/* Returns the id in one component of a path, or NULL. */
static const char *
id_in_component(const char *component, size_t length)
{
	const char *id;
	size_t prefix;

	if (ends_with(component, length, SCOPE))
		length -= strlen(SCOPE);
	if (length < CONTAINER_ID_LENGTH)
		return NULL;
	prefix = length - CONTAINER_ID_LENGTH;
	id = component + prefix;
	if (!all_hexadecimal(id, CONTAINER_ID_LENGTH) || ends_with(component, prefix, MONITOR))
		return NULL;
	return prefix == 0 || id[-1] == '-' || id[-1] == ':' ? id : NULL;
}

const char *
container_id_next(const char **cursor)
{
	while (**cursor != '\0' && **cursor != '\n') {
		const char *component = *cursor;
		const size_t length = strcspn(component, "/\n");
		const char *id = id_in_component(component, length);

		*cursor += length + (component[length] == '/');
		if (id != NULL)
			return id;
	}
	return NULL;
}

bool
container_id_in_path(const char *path, const char *digits)
{
	const size_t length = strlen(digits);
	const char *id;

	while ((id = container_id_next(&path)) != NULL)
		if (strncmp(id, digits, length) == 0)
			return true;
	return false;
}

int
container_id_check(const char *text, char digits[CONTAINER_ID_LENGTH + 1], struct error *err)
{
	const size_t length = strlen(text);
	char shown[TASK_NAME_SIZE];

	task_printable(text, shown, sizeof(shown));
	if (length == 0 || length != strspn(text, "0123456789abcdefABCDEF") ||
	    length > CONTAINER_ID_LENGTH)
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a container id: an id has up to %d hexadecimal "
				 "digits; docker ps, podman ps and crictl ps show the ids of "
				 "containers beside their names",
				 shown, CONTAINER_ID_LENGTH);
	if (length < CONTAINER_ID_LEAST)
		return error_set(err, ERROR_USAGE,
				 "the container id '%s' is too short: give at least %d digits",
				 shown, CONTAINER_ID_LEAST);
	for (size_t i = 0; i <= length; i++)
		digits[i] = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] - 'A' + 'a' :
								      text[i]);
	return 0;
}
