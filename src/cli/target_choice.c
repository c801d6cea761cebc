/* SPDX-License-Identifier: MIT */
/* target_choice.c - finds the target and checks that it may be sampled. */
#include <string.h>
#include <sys/wait.h>

#include "cli/cli_internal.h"
#include "cli/target_internal.h"
#include "wallsample/process/find.h"

/* True if several processes may be sampled. */
static bool
may_be_several(const struct options *options)
{
	return options->pids.count > 1 || options->children || options->all ||
	       options->cgroups.count + options->containers.count > 0;
}

int
target_check_usage(const struct options *options, struct error *err)
{
	const bool groups = options->cgroups.count + options->containers.count > 0;
	const int given = (options->pids.count > 0) + (options->name != NULL) +
			  (options->command != NULL);

	if (options->verb->bit == FOR_DUMP && ((given == 0 && !groups) || options->command != NULL))
		return error_set(err, ERROR_USAGE,
				 "no process is given: -p PID, --name GLOB or "
				 "--core FILE; wallsample dump -h explains");
	if (given == 0 && !groups)
		return error_set(err, ERROR_USAGE,
				 "no process is given: -p PID, --name GLOB or -- CMD; wallsample "
				 "-h explains");
	if (given > 1)
		return error_set(err, ERROR_USAGE,
				 "only one of -p PID, --name GLOB and -- CMD can be sampled");
	if (options->all && options->name == NULL)
		return error_set(err, ERROR_USAGE,
				 "--all goes with --name GLOB: all processes of that name");
	if (options->pids.count > 1 && options->verb->bit == FOR_CAUSAL)
		return error_set(err, ERROR_USAGE,
				 "experiments are made with one process: give one -p PID");
	if (options->filter.exclude_process.count > 0 && !may_be_several(options))
		return error_set(err, ERROR_USAGE,
				 "--exclude-process leaves out some of several processes: give "
				 "--children, --name GLOB --all, --cgroup, --container or -p A,B");
	if (options->keep_root && options->command == NULL)
		return error_set(err, ERROR_USAGE, "--keep-root goes with -- CMD");
	if (options->stop_all && options->nonblocking)
		return error_set(err, ERROR_USAGE,
				 "--stop-all and --nonblocking exclude each other");
	if (options->realtime && options->nonblocking)
		return error_set(err, ERROR_USAGE,
				 "--realtime has no effect with --nonblocking, which stops no "
				 "thread");
	if (options->realtime && options->stop_all)
		return error_set(err, ERROR_USAGE,
				 "--realtime has no effect with --stop-all, which takes no CPUs");
	return 0;
}

int
target_find(struct target *target, const struct options *options, struct error *err)
{
	int rc;

	memset(target, 0, sizeof(*target));
	target->pid = options->pids.count > 0 ? (pid_t)options->pids.id[0] : 0;
	if (options->name != NULL && !options->all)
		return find_one_by_name(options->name, &target->pid, err);
	if (options->command == NULL)
		return 0;
	rc = launch_prepare(options->command, options->keep_root, &target->launched, err);
	target->is_command = rc == 0;
	target->pid = target->launched.pid;
	return rc;
}

/* Opens the processes that are given by their ids. */
static int
open_given(struct target *target, const struct options *options, const struct log *log,
	   struct error *err)
{
	const bool may_stop = !options->nonblocking;
	int rc, first = 0;

	for (size_t i = 0; i < options->pids.count; i++) {
		struct error why;

		rc = target_open_one(target, (pid_t)options->pids.id[i], may_stop, &why);
		if (rc != 0 && target->left_out++ == 0) {
			first = rc;
			*err = why;
		} else if (rc != 0) {
			log_say(log, LOG_NORMAL, "left out: %s", why.text);
		}
	}
	if (target->count == 0)
		return first;
	if (target->left_out > 0)
		log_say(log, LOG_NORMAL, "left out: %s", err->text);
	return 0;
}

int
target_open(struct target *target, const struct options *options, const struct log *log,
	    struct error *err)
{
	int rc = 0;

	if (options->pids.count > 1)
		rc = open_given(target, options, log, err);
	else if (target->pid > 0)
		rc = target_open_one(target, target->pid, !options->nonblocking, err);
	if (rc == 0 && target_is_set(options))
		rc = target_open_set(target, options, log, err);
	if (rc == 0)
		target->pid = target_first(target)->pid;
	return rc;
}

bool
target_reap(const struct target *target, int *status)
{
	return waitpid(target->pid, status, WNOHANG) == target->pid;
}

void
target_add_end(struct strbuf *sb, int status)
{
	if (WIFSIGNALED(status))
		strbuf_add_format(sb, "the command was ended by signal %d (%s)", WTERMSIG(status),
				  strsignal(WTERMSIG(status)));
	else
		strbuf_add_format(sb, "the command ended with exit status %d", WEXITSTATUS(status));
}

int
target_refuse_ended(int status, struct error *err)
{
	struct strbuf end = STRBUF_INIT;

	target_add_end(&end, status);
	error_set(err, ERROR_NO_PROCESS, "nothing was sampled: %s before it could be sampled",
		  end.data);
	strbuf_release(&end);
	return -ERROR_NO_PROCESS;
}

int
target_begin(struct target *target, struct error *err)
{
	struct process *begun;
	int rc, status;

	if (!target->is_command)
		return 0;
	rc = launch_go(&target->launched, err);
	/* If launch_go failed, it has reaped the child: target_release must not kill that
	 * process id. */
	target->is_command = rc == 0;
	if (rc != 0)
		return rc;
	target->is_running = true;
	/* Opens the process again: the first one has the name and arguments from before the exec,
	 * which are those of wallsample. */
	rc = process_open(target->pid, &begun, err);
	if (rc != 0)
		return target_reap(target, &status) ? target_refuse_ended(status, err) : rc;
	process_free(target_first(target));
	target->member[0]->process = begun;
	return 0;
}

void
target_release(struct target *target)
{
	if (target->is_command && !target->is_running)
		launch_cancel(&target->launched);
	process_set_free(target->set);
	target->set = NULL;
	target_free_members(target);
}

int
target_check_tids(const struct target *target, const struct options *options, struct error *err)
{
	const struct id_list *tids = &options->filter.tids;

	for (size_t i = 0; i < tids->count; i++) {
		struct task_stat stat;

		for (size_t p = 0; p < target->count; p++)
			if (process_read_task_stat(target->member[p]->process, (pid_t)tids->id[i],
						   &stat))
				return 0;
	}
	if (tids->count == 0)
		return 0;
	return error_set(err, ERROR_USAGE, "--tid: %d is not a thread of %s %d%s", (int)tids->id[0],
			 target->count > 1 ? "the processes" : "process", (int)target->pid,
			 target->count > 1 ? ", …" : "");
}
