/* SPDX-License-Identifier: MIT */
/* privacy.c - decides which outputs are for their owner only, and hides command lines. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli_internal.h"

#define HIDDEN "[left out]"

bool
privacy_of_process(const struct process *process)
{
	uid_t uid;

	/* If the process has ended, its user is not known. */
	return !process_read_uid(process, &uid) || !user_is_own(uid);
}

bool
privacy_of_file(const char *path)
{
	struct stat info;

	return path != NULL && stat(path, &info) == 0 && (info.st_mode & S_IROTH) == 0;
}

bool
privacy_of_old(int dirfd, const char *base)
{
	struct stat info;

	return dirfd >= 0 && base != NULL &&
	       fstatat(dirfd, base, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (info.st_mode & S_IROTH) == 0;
}

void
privacy_hide_words(const struct options *options, struct process *process)
{
	if (!options->no_cmdline)
		return;
	free(process->cmdline);
	process->cmdline = xstrdup(HIDDEN);
}

void
privacy_hide_all(const struct options *options, struct profile *profile)
{
	for (uint32_t i = 0; options->no_cmdline && i < profile_process_count(profile); i++) {
		const struct profile_process *process = profile_process(profile, i);

		profile_add_process(profile, process->pid, process->start_time,
				    profile_text(profile, process->name), HIDDEN);
	}
}

char *
privacy_own_words(const struct options *options)
{
	const char *command = strstr(options->words, " -- ");

	if (!options->no_cmdline || command == NULL)
		return xstrdup(options->words);
	return xstrndup(options->words, (size_t)(command - options->words));
}
