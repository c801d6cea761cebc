/* SPDX-License-Identifier: MIT */
/* user.c - the user of wallsample, and names of users. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/process_internal.h"

bool
user_of_caller(uid_t *uid)
{
	const char *invoker = secure_getenv("SUDO_UID");
	uint64_t value;

	*uid = geteuid();
	if (*uid != 0)
		return true;
	if (invoker == NULL || !parse_whole_u64(invoker, 1, UINT32_MAX, &value))
		return false;
	*uid = (uid_t)value;
	return true;
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
