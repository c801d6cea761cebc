/* SPDX-License-Identifier: MIT */
/* rights.c - capabilities of wallsample (capabilities(7)). */
#include "cli/rights_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/base/capability.h"
#include "wallsample/cli/supervisor.h"

/* Missing in headers before Linux 5.9. */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BIT(capability) (UINT64_C(1) << (capability))
#define NEEDED                                                                                     \
	(BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE) |            \
	 BIT(CAP_SYS_NICE))

/* --- a file with capabilities --------------------------------------------------------------- */

static int
refuse_right(const char *what, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "%s is not possible while the file wallsample has capabilities: every "
			 "user that may execute it would have these rights; use sudo",
			 what);
}

static bool
attaches(const struct options *options)
{
	return options->core == NULL && options->command == NULL &&
	       (options->verb->bit & (FOR_ATTACHING | FOR_CAUSAL)) != 0;
}

int
rights_check(const struct options *options, struct error *err)
{
	if (getauxval(AT_SECURE) == 0)
		return 0;
	if (geteuid() != getuid() || getegid() != getgid())
		return error_set(
			err, ERROR_USAGE,
			"the file wallsample must not be set-user-ID or set-group-ID: remove "
			"these bits (chmod ug-s) and use sudo, or give it file "
			"capabilities as PERMISSIONS in wallsample(1) describes");
	if (options->command != NULL)
		return refuse_right("starting a command", err);
	if (!attaches(options)) {
		if (!capability_set(0, 0))
			return error_set(err, ERROR_SYSTEM,
					 "cannot give up capabilities: capset(2) failed: %s",
					 strerror(errno));
		return 0;
	}
	if (options->verb->bit == FOR_CAUSAL)
		return refuse_right("wallsample causal", err);
	if (options->symfs != NULL)
		return refuse_right("--symfs", err);
	if (options->debug_dirs.count > 0)
		return refuse_right("--debug-dir", err);
	if (options->debuginfod == DEBUGINFOD_NET)
		return refuse_right("--debuginfod=net", err);
	return 0;
}

/* --- a run ---------------------------------------------------------------------------------- */

/* oom_score_adj before raise_oom_score(); "": it was not raised. */
static char oom_score[16];

static void
write_oom_score(const char *score)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, score, strlen(score));
	close(fd);
}

/* Makes the OOM killer choose wallsample first (proc_pid_oom_score_adj(5)). */
static void
raise_oom_score(void)
{
	char *before = file_read_text(AT_FDCWD, "/proc/self/oom_score_adj", sizeof(oom_score),
				      NULL);

	if (before != NULL)
		snprintf(oom_score, sizeof(oom_score), "%s", before);
	free(before);
	write_oom_score("1000");
}

void
rights_restore_oom_score(void)
{
	if (oom_score[0] != '\0')
		write_oom_score(oom_score);
}

/* True if files can be created in the output's folder with the effective capabilities; the output
 * itself is not written, but replaced. */
static bool
is_writable(const struct output *output)
{
	return output->dirfd < 0 || faccessat(output->dirfd, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

/* True if the output's folder is sticky (S_ISVTX) and belongs to another user. An existing file of
 * this name may then be replaced only by the owner of the file or of the folder, or with
 * CAP_FOWNER. */
static bool
is_sticky(const struct output *output)
{
	struct stat folder;

	return output->dirfd >= 0 && fstat(output->dirfd, &folder) == 0 &&
	       (folder.st_mode & S_ISVTX) != 0 && folder.st_uid != geteuid();
}

/* The capabilities that all threads keep while sampling, and after it. */
static uint64_t kept, kept_later;

/* capset(2) and prctl(2) act on the calling thread only. */
static void
reduce_thread(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)capability_set(kept, kept);
}

/*
 * Returns capabilities that stand in for missing ones of NEEDED. Without CAP_SYS_PTRACE, as in a
 * container, the kernel permits access to a process of the same user only if the tracer has all
 * permitted capabilities of that process (cap_ptrace_access_check, security/commoncap.c in Linux).
 * Without CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE permits reading the files in /proc of a process of
 * another user.
 */
static uint64_t
substitutes(const struct target *target, uint64_t permitted)
{
	uint64_t result = 0, one;

	if ((permitted & BIT(CAP_SYS_PTRACE)) == 0) {
		for (size_t i = 0; i < target->count; i++)
			if (process_read_capabilities(target->member[i]->process, &one))
				result |= one;
	} else if ((permitted & BIT(CAP_DAC_READ_SEARCH)) == 0) {
		result = BIT(CAP_DAC_OVERRIDE);
	}
	return result;
}

void
rights_reduce(const struct output *output, const struct target *target)
{
	uint64_t permitted;

	raise_oom_score();
	if (!capability_read(&permitted))
		return;
	kept = NEEDED;
	/* Opening /proc/PID/map_files needs one of the two; before Linux 5.9, CAP_SYS_ADMIN. */
	if ((permitted & BIT(CAP_CHECKPOINT_RESTORE)) == 0)
		kept |= BIT(CAP_SYS_ADMIN);
	if (target->is_command)
		kept |= BIT(CAP_KILL);
	kept &= permitted;
	if (!capability_set(kept, permitted))
		return;
	if (!is_writable(output))
		kept |= BIT(CAP_DAC_OVERRIDE) & permitted;
	if (is_sticky(output))
		kept |= BIT(CAP_FOWNER) & permitted;
	kept_later = kept &
		     ~(BIT(CAP_SYS_PTRACE) | BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_SYS_ADMIN));
	kept |= substitutes(target, permitted) & permitted;
	reduce_thread();
	supervisor_call(reduce_thread);
}

void
rights_end_sampling(void)
{
	kept = kept_later;
	reduce_thread();
}
