/* SPDX-License-Identifier: MIT */
/*
 * test_launch.c - commands that are started behind a gate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/process/launch.h"
#include "wallsample/process/maps.h"

static char sh[] = "sh", dash_c[] = "-c";

static int
exit_status(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Runs a command and returns its exit status. */
static int
run_command(char *const argv[], bool keep_root)
{
	struct launched launched;
	struct error err = { 0 };

	assert_int_equal(launch_prepare(argv, keep_root, &launched, &err), 0);
	assert_true(launched.pid > 0);
	assert_true(fcntl(launched.gate, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(launch_go(&launched, &err), 0);
	assert_int_equal(launched.gate, -1);
	return exit_status(launched.pid);
}

static int
run_script(const char *script, bool keep_root)
{
	char text[512];
	char *argv[] = { sh, dash_c, text, NULL };

	snprintf(text, sizeof(text), "%s", script);
	return run_command(argv, keep_root);
}

static void
no_child_is_left(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void
test_exit_status(void **state)
{
	(void)state;
	assert_int_equal(run_script("exit 0", true), 0);
	assert_int_equal(run_script("exit 42", true), 42);
	no_child_is_left();
}

static void
check_exec_error(const char *command, const char *word)
{
	char name[64];
	char *argv[] = { name, NULL };
	struct launched launched;
	struct error err = { 0 };

	snprintf(name, sizeof(name), "%s", command);
	assert_int_equal(launch_prepare(argv, true, &launched, &err), 0);
	assert_int_equal(launch_go(&launched, &err), -ERROR_EXEC);
	assert_int_equal(err.kind, ERROR_EXEC);
	assert_non_null(strstr(err.text, command));
	assert_non_null(strstr(err.text, word));
	assert_int_equal(launched.gate, -1);
	no_child_is_left();
}

static void
test_cannot_run(void **state)
{
	char path[] = "/tmp/test_launch.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	check_exec_error("no-such-command-at-all", "there is no such command in PATH");
	check_exec_error("/no/such/file", "no such file");
	check_exec_error("/", strerror(EACCES));
	assert_true(fd >= 0);
	assert_true(write(fd, "#!/no/such/interpreter\n", 23) == 23);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	check_exec_error(path, "interpreter");
	unlink(path);
}

/* Until the gate opens nothing of the command runs; afterwards exec has happened. */
static void
test_gate(void **state)
{
	static char cat[] = "cat";
	char *argv[] = { cat, NULL };
	int input[2], saved = dup(STDIN_FILENO);
	struct launched launched;
	struct process *process;
	struct modules *modules = modules_create();
	struct maps *maps;
	uint64_t generation;
	bool found = false;

	(void)state;
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(launch_prepare(argv, true, &launched, NULL), 0);
	assert_int_equal(process_open(launched.pid, &process, NULL), 0);
	assert_non_null(strstr(process->exe, "test_launch"));
	maps = maps_create(process, modules);
	assert_non_null(maps_find(maps, (uintptr_t)&test_gate));
	generation = maps_generation(maps);

	assert_int_equal(launch_go(&launched, NULL), 0);
	/* The descriptors follow the process through its exec. */
	maps_refresh(maps);
	assert_true(maps_generation(maps) != generation);
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct module *module = modules_get(modules, maps_at(maps, i)->module);

		assert_null(strstr(module->path, "test_launch"));
		found |= module->kind == MODULE_FILE;
	}
	assert_true(found);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(input[0]);
	close(input[1]);
	assert_int_equal(exit_status(launched.pid), 0);
	maps_free(maps);
	modules_free(modules);
	process_free(process);
	no_child_is_left();
}

/* The same without being told: an unknown address is reason enough to look. */
static void
test_exec_is_noticed(void **state)
{
	static char cat[] = "cat";
	char *argv[] = { cat, NULL };
	int input[2], saved = dup(STDIN_FILENO);
	struct launched launched;
	struct process *process;
	struct modules *modules = modules_create();
	struct maps *maps, *fresh;

	(void)state;
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(launch_prepare(argv, true, &launched, NULL), 0);
	assert_int_equal(process_open(launched.pid, &process, NULL), 0);
	maps = maps_create(process, modules);
	assert_int_equal(launch_go(&launched, NULL), 0);
	fresh = maps_create(process, modules);
	for (size_t i = 0; i < maps_count(fresh); i++) {
		maps_tick(maps, 1);
		assert_non_null(maps_find(maps, maps_at(fresh, i)->start));
	}
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(input[0]);
	close(input[1]);
	assert_int_equal(exit_status(launched.pid), 0);
	maps_free(fresh);
	maps_free(maps);
	modules_free(modules);
	process_free(process);
}

static void
test_cancel(void **state)
{
	char touched[] = "/tmp/test_launch.XXXXXX";
	static char touch[] = "rm";
	char *argv[] = { touch, touched, NULL };
	int fd = mkostemp(touched, O_CLOEXEC);
	struct launched launched;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(launch_prepare(argv, true, &launched, NULL), 0);
	launch_cancel(&launched);
	assert_int_equal(launched.gate, -1);
	launch_cancel(&launched);
	no_child_is_left();
	assert_int_equal(access(touched, F_OK), 0);

	/* Without a word, as when wallsample is killed. */
	assert_int_equal(launch_prepare(argv, true, &launched, NULL), 0);
	close(launched.gate);
	assert_int_equal(exit_status(launched.pid), 127);
	assert_int_equal(access(touched, F_OK), 0);
	unlink(touched);
}

static void
test_killed_behind_gate(void **state)
{
	static char true_[] = "true";
	char *argv[] = { true_, NULL };
	struct launched launched;
	struct error err = { 0 };
	siginfo_t info;

	(void)state;
	assert_int_equal(launch_prepare(argv, true, &launched, NULL), 0);
	assert_int_equal(kill(launched.pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)launched.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(launch_go(&launched, &err), -ERROR_EXEC);
	no_child_is_left();
}

static pid_t to_kill;

static void
kill_it(int signal)
{
	(void)signal;
	kill(to_kill, SIGKILL);
}

/* It has the byte, but is killed before it does anything. */
static void
test_killed_before_exec(void **state)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 100000 } };
	static char true_[] = "true";
	char *argv[] = { true_, NULL };
	struct launched launched;
	struct error err = { 0 };
	siginfo_t info;

	(void)state;
	assert_int_equal(launch_prepare(argv, true, &launched, NULL), 0);
	to_kill = launched.pid;
	assert_int_equal(kill(to_kill, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)to_kill, &info, WSTOPPED), 0);
	signal(SIGALRM, kill_it);
	assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
	assert_int_equal(launch_go(&launched, &err), -ERROR_EXEC);
	signal(SIGALRM, SIG_DFL);
	assert_int_equal(launched.pid, -1);
	no_child_is_left();
}

/* Does a line of the command's own status match? Not by way of a shell, which has its own mind. */
static bool
status_says(const char *pattern)
{
	static char grep[] = "grep", quiet[] = "-q", file[] = "/proc/self/status";
	char text[64];
	char *argv[] = { grep, quiet, text, file, NULL };

	snprintf(text, sizeof(text), "%s", pattern);
	return run_command(argv, true) == 0;
}

/* Ignored signals and the mask are inherited. */
static void
test_inherits_signals(void **state)
{
	sigset_t block, before;

	(void)state;
	/* Bit 11 is SIGUSR2 (12), bit 9 is SIGUSR1 (10). */
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, &before);
	assert_true(status_says("^SigIgn:.*8..$"));
	assert_true(status_says("^SigBlk:.*2..$"));
	signal(SIGUSR2, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_false(status_says("^SigIgn:.*8..$"));
	assert_false(status_says("^SigBlk:.*2..$"));
}

/* --- under sudo -------------------------------------------------------------------- */

static void
set_sudo(const char *uid, const char *gid)
{
	if (uid)
		setenv("SUDO_UID", uid, 1);
	else
		unsetenv("SUDO_UID");
	if (gid)
		setenv("SUDO_GID", gid, 1);
	else
		unsetenv("SUDO_GID");
}

static void
test_sudo(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	set_sudo("65534", "65533");
	setenv("HOME", "/the/home", 1);
	assert_int_equal(run_script("test \"$(id -u) $(id -g)\" = '65534 65533' && "
				    "test \"$HOME\" = /the/home && "
				    "! id -G | tr ' ' '\\n' | grep -qx 0", false), 0);
	/* All four ids, so that there is no way back. */
	assert_int_equal(run_script("cd /proc/self; "
				    "grep -q '^Uid:.65534.65534.65534.65534$' status && "
				    "grep -q '^Gid:.65533.65533.65533.65533$' status", false), 0);
	assert_int_equal(run_script("test $(id -u) = 0", true), 0);
	set_sudo("0", "0");
	assert_int_equal(run_script("test $(id -u) = 0", false), 0);
	set_sudo(NULL, NULL);
	assert_int_equal(run_script("test $(id -u) = 0", false), 0);
}

/* Rather not at all than as root by mistake. */
static void
test_sudo_nonsense(void **state)
{
	static const char *const ids[][2] = {
		{ "x", "1" }, { "", "1" }, { "-1", "1" }, { "4294967295", "1" }, { "1", NULL },
		{ "1", "1 2" }, { "99999999999999999999", "1" },
	};
	static char true_[] = "true";
	char *argv[] = { true_, NULL };
	struct launched launched;
	struct error err = { 0 };

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		set_sudo(ids[i][0], ids[i][1]);
		assert_int_equal(launch_prepare(argv, false, &launched, &err), -ERROR_EXEC);
		assert_non_null(strstr(err.text, "--keep-root"));
	}
	set_sudo(NULL, NULL);
	no_child_is_left();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_status),
		cmocka_unit_test(test_cannot_run),
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_exec_is_noticed),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_killed_behind_gate),
		cmocka_unit_test(test_killed_before_exec),
		cmocka_unit_test(test_inherits_signals),
		cmocka_unit_test(test_sudo),
		cmocka_unit_test(test_sudo_nonsense),
	};

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
