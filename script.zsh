#compdef wallsample
# Completion of wallsample for zsh, written by: wallsample completion zsh
_wallsample()
{
	local command= commands=(
		'record:sample into a recording, for wallsample report'
		'report:any report, from one recording or several'
		'dump:every thread of a process once, with its stack'
		'diff:what changed from one recording to another'
		'causal:what a faster function would bring, by experiment'
		'info:what a recording holds'
		'help:the help of a command'
		'completion:a script that completes commands in a shell'
	)
	if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
		_describe command commands
		return
	fi
	(( ${commands[(I)$words[2]:*]} )) && command=$words[2]
	case $command in
	('')
		_arguments -s \
			{-p,--pid}'[sample this running process]:PID:_pids' \
			'--name[sample the one process whose command name matches this pattern]:GLOB:($(ps -eo comm=))' \
			'--keep-root[under sudo, run CMD as root and not as the invoking user]' \
			{-d,--duration}'[sample for this long\: 30, 500ms, 2m, 1h; without it until Ctrl-C or the end of the process, causal 5m at most]:T: ' \
			{-r,--rate}'[read the state of the threads this often a second]:HZ: ' \
			'--no-jitter[sample at even intervals; without it intervals are random, so that periodic work is not always sampled at the same point]' \
			{-o,--output}'[write to this file, - is stdout; in the name %p is the process id, %h the host, %t the time, %{ENV} an environment variable, %% a percent sign]:FILE:_files' \
			{-f,--format}'[the format, see below; without it by the ending of FILE, else text]:F:(text folded pprof json chrome speedscope perf svg markdown html latex man)' \
			'--no-cmdline[leave the command line of the program out of the output]' \
			{-n,--limit}'[rows of a table (default 20; 8 for each thread where threads are kept apart)]:N: ' \
			'--full[the whole text report\: all tables, the cost and the quality of sampling; without it one screen]' \
			{-t,--threads}'[keep the threads apart\: a table of functions for each thread; in folded stacks the thread is the outermost frame]' \
			'--stop-all[keep the running threads stopped until all are captured\: one consistent picture]' \
			'--nonblocking[never stop a thread; running threads are counted, without a stack]' \
			'--max-overhead[lower the rate rather than use more than this share of one CPU]:PCT: ' \
			'--max-stopped[lower the rate rather than keep threads stopped for more than this share of their time]:PCT: ' \
			'--realtime[use a real-time class to take the CPUs for each sample, so that samples of running threads are exact on a busy machine, too; needs root, CAP_SYS_NICE or a limit RLIMIT_RTPRIO]' \
			'--stack-size[copy at most this much of a stack]:SIZE: ' \
			{-I,--include}'[only stacks with a function that matches this regular expression]:REGEX: ' \
			{-X,--exclude}'[only stacks without a function that matches this regular expression]:REGEX: ' \
			'--tid[only these threads\: ids, separated by commas]:LIST: ' \
			'--thread-name[only threads whose name matches this pattern]:GLOB: ' \
			'--exclude-thread[no threads whose name matches one of these patterns, separated by commas; when sampling, they are not stopped, and only their number and CPU time are read; may be given several times]:GLOB: ' \
			'--tasks[tasks that a language'\''s runtime schedules\: auto shows each by itself, off shows the threads that run them, as for any program]:WHICH:(auto off)' \
			'--task[only these tasks\: numbers such as 17 or 0x7f20a4c0, separated by commas]:LIST: ' \
			'--created-by[continue the stack of a task with the place that created the task]' \
			'--state[only samples in these states, separated by commas\: R running, Q waiting for a CPU, S sleeping, D uninterruptible, T stopped, Y ready (a task)]:LIST: ' \
			'--gil[only samples in these states of the interpreter'\''s lock, separated by commas\: none, has, wait, handover]:LIST: ' \
			'--parallelism[only the time in which this number of threads was on a CPU\: 1, 2-8]:RANGE: ' \
			'--from[only samples from this time on, counted from the beginning; -10 is ten seconds before the end]:T: ' \
			'--to[only samples up to this time, counted as with --from]:T: ' \
			'--by[what a frame stands for\: function, line, module, source, thread, state, lock (the object that a thread waits for) or gil; causal\: the first three]:WHAT:(function line module source thread state lock gil)' \
			'--sort[the weight that functions are ordered by\: wall, overhead (CPU time) or latency (real time)]:WEIGHT:(wall overhead latency)' \
			'--blame[instead of samples show the stacks of lock holders, with the time that other threads waited for them]' \
			'--tree[add the call tree to the text report; -n says how many lines (60)]' \
			'--focus[add the callers and callees of these functions to the text report]:REGEX: ' \
			'--lines[show source lines\: the same as --by line]' \
			'--native[frames of interpreted programs\: merged into native stacks, only the native ones, or none of the native ones]:WHICH:(merged only none)' \
			'--interpreter-frames[keep the frames of the interpreter between two functions of its program]' \
			'--no-inlines[show no frames for inlined functions]' \
			'--no-demangle[show the mangled names of C++, Rust and D]' \
			'--debug-dir[search debug files in this directory before /usr/lib/debug; may be given several times]:DIR:_files -/' \
			'--symfs[search the program'\''s files and debug files below this directory, too]:DIR:_files -/' \
			'--debuginfod[debug files from debuginfod\: off, cache (files fetched earlier) or net (ask the servers of $DEBUGINFOD_URLS)]:WHERE:(off cache net)' \
			'--runtime[the languages whose functions are shown\: auto (all supported ones), none, or names, separated by commas\:]:LIST: ' \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:file:_files'
		;;
	('record')
		_arguments -s \
			{-p,--pid}'[sample this running process]:PID:_pids' \
			'--name[sample the one process whose command name matches this pattern]:GLOB:($(ps -eo comm=))' \
			'--keep-root[under sudo, run CMD as root and not as the invoking user]' \
			{-d,--duration}'[sample for this long\: 30, 500ms, 2m, 1h; without it until Ctrl-C or the end of the process, causal 5m at most]:T: ' \
			{-r,--rate}'[read the state of the threads this often a second]:HZ: ' \
			'--no-jitter[sample at even intervals; without it intervals are random, so that periodic work is not always sampled at the same point]' \
			{-o,--output}'[write to this file, - is stdout; in the name %p is the process id, %h the host, %t the time, %{ENV} an environment variable, %% a percent sign]:FILE:_files' \
			{-f,--format}'[the format, see below; without it by the ending of FILE, else text]:F:(text folded pprof json chrome speedscope perf svg markdown html latex man)' \
			'--no-cmdline[leave the command line of the program out of the output]' \
			'--stop-all[keep the running threads stopped until all are captured\: one consistent picture]' \
			'--nonblocking[never stop a thread; running threads are counted, without a stack]' \
			'--max-overhead[lower the rate rather than use more than this share of one CPU]:PCT: ' \
			'--max-stopped[lower the rate rather than keep threads stopped for more than this share of their time]:PCT: ' \
			'--realtime[use a real-time class to take the CPUs for each sample, so that samples of running threads are exact on a busy machine, too; needs root, CAP_SYS_NICE or a limit RLIMIT_RTPRIO]' \
			'--stack-size[copy at most this much of a stack]:SIZE: ' \
			'--tid[only these threads\: ids, separated by commas]:LIST: ' \
			'--thread-name[only threads whose name matches this pattern]:GLOB: ' \
			'--exclude-thread[no threads whose name matches one of these patterns, separated by commas; when sampling, they are not stopped, and only their number and CPU time are read; may be given several times]:GLOB: ' \
			'--tasks[tasks that a language'\''s runtime schedules\: auto shows each by itself, off shows the threads that run them, as for any program]:WHICH:(auto off)' \
			'--debug-dir[search debug files in this directory before /usr/lib/debug; may be given several times]:DIR:_files -/' \
			'--symfs[search the program'\''s files and debug files below this directory, too]:DIR:_files -/' \
			'--debuginfod[debug files from debuginfod\: off, cache (files fetched earlier) or net (ask the servers of $DEBUGINFOD_URLS)]:WHERE:(off cache net)' \
			'--runtime[the languages whose functions are shown\: auto (all supported ones), none, or names, separated by commas\:]:LIST: ' \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:file:_files'
		;;
	('report')
		_arguments -s \
			{-o,--output}'[write to this file, - is stdout; in the name %p is the process id, %h the host, %t the time, %{ENV} an environment variable, %% a percent sign]:FILE:_files' \
			{-f,--format}'[the format, see below; without it by the ending of FILE, else text]:F:(text folded pprof json chrome speedscope perf svg markdown html latex man)' \
			'--no-cmdline[leave the command line of the program out of the output]' \
			{-n,--limit}'[rows of a table (default 20; 8 for each thread where threads are kept apart)]:N: ' \
			'--full[the whole text report\: all tables, the cost and the quality of sampling; without it one screen]' \
			{-t,--threads}'[keep the threads apart\: a table of functions for each thread; in folded stacks the thread is the outermost frame]' \
			{-I,--include}'[only stacks with a function that matches this regular expression]:REGEX: ' \
			{-X,--exclude}'[only stacks without a function that matches this regular expression]:REGEX: ' \
			'--tid[only these threads\: ids, separated by commas]:LIST: ' \
			'--thread-name[only threads whose name matches this pattern]:GLOB: ' \
			'--exclude-thread[no threads whose name matches one of these patterns, separated by commas; when sampling, they are not stopped, and only their number and CPU time are read; may be given several times]:GLOB: ' \
			'--tasks[tasks that a language'\''s runtime schedules\: auto shows each by itself, off shows the threads that run them, as for any program]:WHICH:(auto off)' \
			'--task[only these tasks\: numbers such as 17 or 0x7f20a4c0, separated by commas]:LIST: ' \
			'--created-by[continue the stack of a task with the place that created the task]' \
			'--state[only samples in these states, separated by commas\: R running, Q waiting for a CPU, S sleeping, D uninterruptible, T stopped, Y ready (a task)]:LIST: ' \
			'--gil[only samples in these states of the interpreter'\''s lock, separated by commas\: none, has, wait, handover]:LIST: ' \
			'--parallelism[only the time in which this number of threads was on a CPU\: 1, 2-8]:RANGE: ' \
			'--from[only samples from this time on, counted from the beginning; -10 is ten seconds before the end]:T: ' \
			'--to[only samples up to this time, counted as with --from]:T: ' \
			'--by[what a frame stands for\: function, line, module, source, thread, state, lock (the object that a thread waits for) or gil; causal\: the first three]:WHAT:(function line module source thread state lock gil)' \
			'--sort[the weight that functions are ordered by\: wall, overhead (CPU time) or latency (real time)]:WEIGHT:(wall overhead latency)' \
			'--blame[instead of samples show the stacks of lock holders, with the time that other threads waited for them]' \
			'--tree[add the call tree to the text report; -n says how many lines (60)]' \
			'--focus[add the callers and callees of these functions to the text report]:REGEX: ' \
			'--lines[show source lines\: the same as --by line]' \
			'--native[frames of interpreted programs\: merged into native stacks, only the native ones, or none of the native ones]:WHICH:(merged only none)' \
			'--interpreter-frames[keep the frames of the interpreter between two functions of its program]' \
			'--no-inlines[show no frames for inlined functions]' \
			'--no-demangle[show the mangled names of C++, Rust and D]' \
			'--debug-dir[search debug files in this directory before /usr/lib/debug; may be given several times]:DIR:_files -/' \
			'--symfs[search the program'\''s files and debug files below this directory, too]:DIR:_files -/' \
			'--debuginfod[debug files from debuginfod\: off, cache (files fetched earlier) or net (ask the servers of $DEBUGINFOD_URLS)]:WHERE:(off cache net)' \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:file:_files'
		;;
	('dump')
		_arguments -s \
			{-p,--pid}'[sample this running process]:PID:_pids' \
			'--name[sample the one process whose command name matches this pattern]:GLOB:($(ps -eo comm=))' \
			'--core[show the threads of this core file instead of a running process]:FILE:_files' \
			'--exe[the program of the core file, if it is no longer at its path]:FILE:_files' \
			{-o,--output}'[write to this file, - is stdout; in the name %p is the process id, %h the host, %t the time, %{ENV} an environment variable, %% a percent sign]:FILE:_files' \
			{-f,--format}'[the format, see below; without it by the ending of FILE, else text]:F:(text folded json)' \
			'--no-cmdline[leave the command line of the program out of the output]' \
			'--nonblocking[never stop a thread; running threads are counted, without a stack]' \
			'--stack-size[copy at most this much of a stack]:SIZE: ' \
			{-I,--include}'[only stacks with a function that matches this regular expression]:REGEX: ' \
			{-X,--exclude}'[only stacks without a function that matches this regular expression]:REGEX: ' \
			'--tid[only these threads\: ids, separated by commas]:LIST: ' \
			'--thread-name[only threads whose name matches this pattern]:GLOB: ' \
			'--exclude-thread[no threads whose name matches one of these patterns, separated by commas; when sampling, they are not stopped, and only their number and CPU time are read; may be given several times]:GLOB: ' \
			'--tasks[tasks that a language'\''s runtime schedules\: auto shows each by itself, off shows the threads that run them, as for any program]:WHICH:(auto off)' \
			'--task[only these tasks\: numbers such as 17 or 0x7f20a4c0, separated by commas]:LIST: ' \
			'--created-by[continue the stack of a task with the place that created the task]' \
			'--state[only samples in these states, separated by commas\: R running, Q waiting for a CPU, S sleeping, D uninterruptible, T stopped, Y ready (a task)]:LIST: ' \
			'--gil[only samples in these states of the interpreter'\''s lock, separated by commas\: none, has, wait, handover]:LIST: ' \
			'--native[frames of interpreted programs\: merged into native stacks, only the native ones, or none of the native ones]:WHICH:(merged only none)' \
			'--interpreter-frames[keep the frames of the interpreter between two functions of its program]' \
			'--no-inlines[show no frames for inlined functions]' \
			'--no-demangle[show the mangled names of C++, Rust and D]' \
			'--debug-dir[search debug files in this directory before /usr/lib/debug; may be given several times]:DIR:_files -/' \
			'--symfs[search the program'\''s files and debug files below this directory, too]:DIR:_files -/' \
			'--debuginfod[debug files from debuginfod\: off, cache (files fetched earlier) or net (ask the servers of $DEBUGINFOD_URLS)]:WHERE:(off cache net)' \
			'--runtime[the languages whose functions are shown\: auto (all supported ones), none, or names, separated by commas\:]:LIST: ' \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:file:_files'
		;;
	('diff')
		_arguments -s \
			{-o,--output}'[write to this file, - is stdout; in the name %p is the process id, %h the host, %t the time, %{ENV} an environment variable, %% a percent sign]:FILE:_files' \
			{-f,--format}'[the format, see below; without it by the ending of FILE, else text]:F:(text folded json markdown html latex man)' \
			'--no-cmdline[leave the command line of the program out of the output]' \
			{-n,--limit}'[rows of a table (default 20; 8 for each thread where threads are kept apart)]:N: ' \
			{-I,--include}'[only stacks with a function that matches this regular expression]:REGEX: ' \
			{-X,--exclude}'[only stacks without a function that matches this regular expression]:REGEX: ' \
			'--thread-name[only threads whose name matches this pattern]:GLOB: ' \
			'--exclude-thread[no threads whose name matches one of these patterns, separated by commas; when sampling, they are not stopped, and only their number and CPU time are read; may be given several times]:GLOB: ' \
			'--tasks[tasks that a language'\''s runtime schedules\: auto shows each by itself, off shows the threads that run them, as for any program]:WHICH:(auto off)' \
			'--created-by[continue the stack of a task with the place that created the task]' \
			'--state[only samples in these states, separated by commas\: R running, Q waiting for a CPU, S sleeping, D uninterruptible, T stopped, Y ready (a task)]:LIST: ' \
			'--gil[only samples in these states of the interpreter'\''s lock, separated by commas\: none, has, wait, handover]:LIST: ' \
			'--parallelism[only the time in which this number of threads was on a CPU\: 1, 2-8]:RANGE: ' \
			'--from[only samples from this time on, counted from the beginning; -10 is ten seconds before the end]:T: ' \
			'--to[only samples up to this time, counted as with --from]:T: ' \
			'--by[what a frame stands for\: function, line, module, source, thread, state, lock (the object that a thread waits for) or gil; causal\: the first three]:WHAT:(function line module source thread state lock gil)' \
			'--sort[the weight that functions are ordered by\: wall, overhead (CPU time) or latency (real time)]:WEIGHT:(wall overhead latency)' \
			'--lines[show source lines\: the same as --by line]' \
			'--native[frames of interpreted programs\: merged into native stacks, only the native ones, or none of the native ones]:WHICH:(merged only none)' \
			'--interpreter-frames[keep the frames of the interpreter between two functions of its program]' \
			'--no-inlines[show no frames for inlined functions]' \
			'--no-demangle[show the mangled names of C++, Rust and D]' \
			'--debug-dir[search debug files in this directory before /usr/lib/debug; may be given several times]:DIR:_files -/' \
			'--symfs[search the program'\''s files and debug files below this directory, too]:DIR:_files -/' \
			'--debuginfod[debug files from debuginfod\: off, cache (files fetched earlier) or net (ask the servers of $DEBUGINFOD_URLS)]:WHERE:(off cache net)' \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:file:_files'
		;;
	('causal')
		_arguments -s \
			{-p,--pid}'[sample this running process]:PID:_pids' \
			'--name[sample the one process whose command name matches this pattern]:GLOB:($(ps -eo comm=))' \
			'--keep-root[under sudo, run CMD as root and not as the invoking user]' \
			{-d,--duration}'[sample for this long\: 30, 500ms, 2m, 1h; without it until Ctrl-C or the end of the process, causal 5m at most]:T: ' \
			{-o,--output}'[write to this file, - is stdout; in the name %p is the process id, %h the host, %t the time, %{ENV} an environment variable, %% a percent sign]:FILE:_files' \
			{-f,--format}'[the format, see below; without it by the ending of FILE, else text]:F:(text json svg markdown html latex man coz)' \
			'--no-cmdline[leave the command line of the program out of the output]' \
			{-n,--limit}'[rows of a table (default 20; 8 for each thread where threads are kept apart)]:N: ' \
			'--stack-size[copy at most this much of a stack]:SIZE: ' \
			'--exclude-thread[no threads whose name matches one of these patterns, separated by commas; when sampling, they are not stopped, and only their number and CPU time are read; may be given several times]:GLOB: ' \
			'--by[what a frame stands for\: function, line, module, source, thread, state, lock (the object that a thread waits for) or gil; causal\: the first three]:WHAT:(function line module source thread state lock gil)' \
			'--no-inlines[show no frames for inlined functions]' \
			'--no-demangle[show the mangled names of C++, Rust and D]' \
			'--debug-dir[search debug files in this directory before /usr/lib/debug; may be given several times]:DIR:_files -/' \
			'--symfs[search the program'\''s files and debug files below this directory, too]:DIR:_files -/' \
			'--debuginfod[debug files from debuginfod\: off, cache (files fetched earlier) or net (ask the servers of $DEBUGINFOD_URLS)]:WHERE:(off cache net)' \
			'--runtime[the languages whose functions are shown\: auto (all supported ones), none, or names, separated by commas\:]:LIST: ' \
			'--progress[a progress point, which measures the program'\''s work\: var\:SYMBOL, io\:FIELD, syscalls\:write, coz\:NAME, func\:SYMBOL, line\:FILE\:N, begin\:SPEC,end\:SPEC, each with NAME= before it if wanted; may be given several times]:SPEC: ' \
			'--select[try the functions (lines, modules) that match, not those with the most Latency]:REGEX: ' \
			'--candidates[without --select\: the number of functions to try, those with the most Latency]:N: ' \
			'--match[a thread is in the function if the function is anywhere in its stack (stack), or its innermost frame (self)]:WHERE:(stack self)' \
			'--speedups[the speed-ups to try, in percent of the function'\''s time]:LIST: ' \
			'--tick[the mean time between two samples of the threads; by default half of the time for which threads run between two sleeps, from 1ms to 2ms, or up to 5ms with many threads or too few CPUs]:T: ' \
			'--experiment[the shortest duration of an experiment (default 100 times the time for which threads run between two sleeps, 1s at most, or less in a short run)]:T: ' \
			'--profile-time[the duration of the profile from which functions are chosen]:T: ' \
			'--precision[stop when half the 95 % confidence interval of each gain is at most this]:POINTS: ' \
			'--max-hold[hold other threads for at most this share of the run]:PCT: ' \
			'--intrusive[permit func\: and line\:, which keep all threads traced and set hardware breakpoints]' \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:file:_files'
		;;
	('info')
		_arguments -s \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:file:_files'
		;;
	('help')
		_arguments -s \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:command:( )'
		;;
	('completion')
		_arguments -s \
			{-q,--quiet}'[print errors only]' \
			{-v,--verbose}'[print details; twice\: more details]' \
			{-V,--version}'[print the version]' \
			{-h,--help}'[print this help]' \
			'*:shell:(bash zsh fish)'
		;;
	esac
}
_wallsample "$@"
