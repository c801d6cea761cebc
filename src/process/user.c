/* SPDX-License-Identifier: MIT */
/* user.c - the user of wallsample, and names of users. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/process_internal.h"

bool
user_parse_id(const char *text, uint32_t *id)
{
	uint64_t value;

	/* UINT32_MAX is not accepted: it is the id -1, which means "unchanged" to setresuid(2) and
	 * setresgid(2). */
	if (text == NULL || !parse_whole_u64(text, 0, UINT32_MAX - 1, &value))
		return false;
	*id = (uint32_t)value;
	return true;
}

bool
user_of_caller(uid_t *uid)
{
	*uid = geteuid();
	return *uid != 0 || (user_parse_id(secure_getenv("SUDO_UID"), uid) && *uid != 0);
}

bool
user_is_own(uid_t uid)
{
	uid_t caller;

	return uid == geteuid() || (user_of_caller(&caller) && uid == caller);
}

const char *
user_name(uid_t uid, char *to)
{
	const struct passwd *user = getpwuid(uid);

	if (user == NULL)
		snprintf(to, USER_NAME_SIZE, "%u", (unsigned)uid);
	else
		task_printable(user->pw_name, to, USER_NAME_SIZE);
	return to;
}
