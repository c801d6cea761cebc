/* SPDX-License-Identifier: MIT */
/* launch.c - forks a child that waits for a byte from wallsample and then executes the command. */
#include "wallsample/process/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/process_internal.h"

/* Most groups of a user: NGROUPS_MAX of include/uapi/linux/limits.h. */
#define GROUPS_MAX 65536

/* PF_FORKNOEXEC of include/linux/sched.h: the process was forked and has not executed a file. */
#define FLAG_NO_EXEC 0x40

/*
 * The parent and the child each have one end of a socket pair, called the gate. The parent writes a
 * byte to it, and then the child executes the command. If the child cannot, it writes a
 * launch_report. If exec succeeds, it closes the child's end: the parent reads end of file instead
 * of a report.
 */

/* The step at which the child failed; struct launch_report adds its errno. */
enum launch_step { STEP_GROUPS, STEP_GID, STEP_UID, STEP_EXEC };

struct launch_report {
	enum launch_step step;
	int error;
};

/* User and groups of the command. */
struct identity {
	bool change; /* true: the command runs as this user; false: as wallsample's user */
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int group_count;
};

/*
 * Reads the groups of the user; stores only identity->gid if the user is not known or the groups
 * cannot be read. Must be called before the fork: getpwuid and getgrouplist are not
 * async-signal-safe.
 */
static void
read_groups(struct identity *identity)
{
	const struct passwd *user = getpwuid(identity->uid);

	identity->group_count = 1;
	identity->groups = xcalloc(1, sizeof(*identity->groups));
	identity->groups[0] = identity->gid;
	if (!user)
		return;
	for (int room = 64; room <= GROUPS_MAX; room *= 4) {
		int count = room;

		identity->groups = xrealloc(identity->groups, (size_t)room * sizeof(gid_t));
		if (getgrouplist(user->pw_name, identity->gid, identity->groups, &count) < 0)
			continue;
		identity->group_count = count;
		return;
	}
	identity->groups[0] = identity->gid;
}

static int
choose_identity(bool keep_root, struct identity *identity, struct error *err)
{
	const char *uid = secure_getenv("SUDO_UID"), *gid = secure_getenv("SUDO_GID");

	memset(identity, 0, sizeof(*identity));
	if (keep_root || geteuid() != 0 || !uid)
		return 0;
	if (!user_parse_id(uid, &identity->uid) || !user_parse_id(gid, &identity->gid))
		return error_set(err, ERROR_EXEC,
				 "SUDO_UID and SUDO_GID do not say which user the command is to "
				 "run as; use --keep-root to run it as root");
	/* The user that invoked sudo is root: user and groups stay. */
	if (identity->uid == 0)
		return 0;
	identity->change = true;
	read_groups(identity);
	return 0;
}

/*
 * Changes groups and user of the child to the identity. The user id is changed last: without root
 * the other calls would fail. On failure returns false, with errno set and *step the failed call.
 */
static bool
become(const struct identity *identity, enum launch_step *step)
{
	if (!identity->change)
		return true;
	*step = STEP_GROUPS;
	if (setgroups((size_t)identity->group_count, identity->groups) != 0)
		return false;
	*step = STEP_GID;
	if (setresgid(identity->gid, identity->gid, identity->gid) != 0)
		return false;
	*step = STEP_UID;
	return setresuid(identity->uid, identity->uid, identity->uid) == 0;
}

/* What the child does from fork to exec. It calls no function that may take a lock of another
 * thread, such as malloc. */
static void __attribute__((noreturn))
run_child(int gate, char *const argv[], const struct identity *identity)
{
	struct launch_report report = { .step = STEP_EXEC };
	char byte;
	ssize_t n;

	do
		n = read(gate, &byte, 1);
	while (n < 0 && errno == EINTR);
	/* End of file in place of the byte: wallsample has exited, so the command must not run. */
	if (n != 1)
		_exit(127);
	if (become(identity, &report.step)) {
		report.step = STEP_EXEC;
		execvp(argv[0], argv);
	}
	report.error = errno;
	if (send(gate, &report, sizeof(report), MSG_NOSIGNAL) < 0)
		_exit(126);
	_exit(127);
}

int
launch_prepare(char *const argv[], bool keep_root, struct launched *out, struct error *err)
{
	struct identity identity;
	int pair[2], rc;
	pid_t pid;

	out->pid = -1;
	out->gate = -1;
	out->command = argv[0];
	rc = choose_identity(keep_root, &identity, err);
	if (rc != 0)
		return rc;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		free(identity.groups);
		return error_set(err, ERROR_SYSTEM, "cannot make a socket pair: %s",
				 strerror(errno));
	}
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		run_child(pair[1], argv, &identity);
	}
	rc = errno;
	free(identity.groups);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return error_set(err, ERROR_SYSTEM, "cannot start a process: %s", strerror(rc));
	}
	out->pid = pid;
	out->gate = pair[0];
	return 0;
}

static void
reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* Reads the child's report. Returns false at end of file: exec has succeeded, or a signal has ended
 * the child. */
static bool
read_report(int gate, struct launch_report *report)
{
	ssize_t n;

	do
		n = recv(gate, report, sizeof(*report), MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*report);
}

static int
explain_report(const struct launched *launched, const struct launch_report *report,
	       struct error *err)
{
	const bool in_path = strchr(launched->command, '/') == NULL;
	const char *why = strerror(report->error);
	char command[256];

	task_printable(launched->command, command, sizeof(command));
	if (report->step != STEP_EXEC)
		return error_set(err, ERROR_EXEC,
				 "cannot run '%s' as the user who called sudo: %s; use --keep-root "
				 "to run it as root",
				 command, why);
	if (report->error == ENOENT)
		why = in_path ? "there is no such command in PATH" :
				"no such file (or it is a script whose interpreter is missing)";
	/* execvp also fails with EACCES when only a directory of PATH was not accessible. */
	if (report->error == EACCES && in_path)
		why = "there is no such command in PATH that the user may run";
	return error_set(err, ERROR_EXEC, "cannot run '%s': %s", command, why);
}

/* Returns true when the child is known to have ended before exec; false also if its stat file
 * cannot be read. To be called after end of file: exec clears the flag before closing the gate. */
static bool
has_ended(pid_t pid)
{
	struct task_stat stat;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	return task_read_stat(AT_FDCWD, name, &stat) && (stat.flags & FLAG_NO_EXEC) != 0;
}

int
launch_go(struct launched *launched, struct error *err)
{
	struct launch_report report;
	int gate = launched->gate, rc = 0;
	bool sent = send(gate, "", 1, MSG_NOSIGNAL) == 1;

	launched->gate = -1;
	if (sent && read_report(gate, &report))
		rc = explain_report(launched, &report, err);
	else if (!sent || has_ended(launched->pid))
		rc = error_set(err, ERROR_EXEC, "the command was ended before it could begin");
	close(gate);
	if (rc != 0) {
		reap(launched->pid);
		launched->pid = -1;
	}
	return rc;
}

void
launch_cancel(struct launched *launched)
{
	if (launched->gate < 0)
		return;
	/* A running child exits when the gate is closed, but a stopped one does not: so the child
	 * is killed. */
	kill(launched->pid, SIGKILL);
	close(launched->gate);
	reap(launched->pid);
	launched->gate = -1;
	launched->pid = -1;
}
