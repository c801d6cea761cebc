# Tests that sample real processes: see tests/README.

check_LIBRARIES += tests/live/libharness.a
tests_live_libharness_a_SOURCES = \
	tests/live/folded_lines.c tests/live/folded.h tests/live/harness.c tests/live/harness.h \
	tests/live/inspect.c tests/live/run.c

live_tests = \
	tests/live/test_blame tests/live/test_breakpoints tests/live/test_churn tests/live/test_descriptors \
	tests/live/test_eustack tests/live/test_files tests/live/test_gdbjit \
	tests/live/test_guard tests/live/test_harness \
	tests/live/test_jitter tests/live/test_killed tests/live/test_late \
	tests/live/test_latency tests/live/test_lifecycle \
	tests/live/test_modes \
	tests/live/test_names tests/live/test_node tests/live/test_progress \
	tests/live/test_python_objects \
	tests/live/test_recursion tests/live/test_shapes \
	tests/live/test_shares tests/live/test_states tests/live/test_stopped tests/live/test_sums \
	tests/live/test_suspended \
	tests/live/test_tasks tests/live/test_tasks_recorded tests/live/test_unharmed tests/live/test_waits
check_PROGRAMS += $(live_tests)
TESTS += $(live_tests)
live_ldadd = tests/live/libharness.a libwallsample.a -lm
tests_live_test_blame_LDADD = $(live_ldadd)
tests_live_test_breakpoints_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm
tests_live_test_churn_LDADD = $(live_ldadd)
tests_live_test_descriptors_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm
tests_live_test_eustack_LDADD = $(live_ldadd)
tests_live_test_files_LDADD = $(live_ldadd)
tests_live_test_gdbjit_LDADD = $(live_ldadd)
tests_live_test_guard_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm
tests_live_test_harness_LDADD = $(live_ldadd)
tests_live_test_jitter_LDADD = $(live_ldadd)
tests_live_test_killed_LDADD = $(live_ldadd)
tests_live_test_late_LDADD = $(live_ldadd)
tests_live_test_latency_LDADD = $(live_ldadd)
tests_live_test_lifecycle_LDADD = $(live_ldadd)
tests_live_test_modes_LDADD = $(live_ldadd)
tests_live_test_names_LDADD = $(live_ldadd)
tests_live_test_node_LDADD = $(live_ldadd)
tests_live_test_progress_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm
tests_live_test_python_objects_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm
tests_live_test_recursion_LDADD = $(live_ldadd)
tests_live_test_shapes_LDADD = $(live_ldadd)
tests_live_test_shares_LDADD = $(live_ldadd)
tests_live_test_states_LDADD = $(live_ldadd)
tests_live_test_stopped_LDADD = $(live_ldadd)
tests_live_test_sums_LDADD = $(live_ldadd)
tests_live_test_suspended_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm
live_sim = tests/live/sim_run.c tests/live/sim_run.h tests/live/sim_runtime.c \
	tests/live/sim_runtime.h
tests_live_test_tasks_SOURCES = $(live_sim) tests/live/test_tasks.c
tests_live_test_tasks_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm
tests_live_test_tasks_recorded_SOURCES = $(live_sim) tests/live/test_tasks_recorded.c
tests_live_test_tasks_recorded_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm
tests_live_test_unharmed_LDADD = $(live_ldadd)
tests_live_test_waits_LDADD = $(WALLSAMPLE_LIBS) $(live_ldadd)

# Plumbing of the C libraries; the script compiles the program for glibc and for musl.
TESTS += tests/live/c_library.sh
EXTRA_DIST += tests/live/c_library.sh tests/live/targets/cancel_calls.c \
	tests/live/targets/cancel_library.c

# Samples of running threads that are exact.
check_PROGRAMS += tests/bench/bench_calls
tests_bench_bench_calls_SOURCES = tests/bench/bench_calls.c
tests_bench_bench_calls_LDADD =
TESTS += tests/live/exact.sh
TESTS += tests/live/fifty_thousand.sh tests/live/first_screen.sh tests/live/servers.sh tests/live/database.sh tests/live/hostile_memory.sh \
	tests/live/hostile_sizes.sh tests/live/hostile_tables.sh tests/live/kills.sh \
	tests/live/quota.sh tests/live/realtime.sh tests/live/slow_files.sh \
	tests/live/together.sh tests/live/traces_children.sh tests/live/unwinders.sh
EXTRA_DIST += tests/live/exact.sh
EXTRA_DIST += tests/live/fifty_thousand.sh tests/live/traces_children.sh \
	tests/live/first_screen.py tests/live/first_screen.sh tests/live/servers.sh tests/live/database.sh \
	tests/live/targets/contend.py \
	tests/live/assembled.py tests/live/fuse.py \
	tests/live/hostile_memory.py tests/live/hostile_memory.sh \
	tests/live/hostile_sizes.py tests/live/hostile_sizes.sh \
	tests/live/hostile_tables.py tests/live/hostile_tables.sh tests/live/kills.py \
	tests/live/kills.sh tests/live/quota.py tests/live/quota.sh tests/live/realtime.sh \
	tests/live/sampling.py tests/live/slow_files.py tests/live/slow_files.sh \
	tests/live/together.sh tests/live/unwinders.py \
	tests/live/unwinders.sh

# Uninterruptible sleeps: a child of vfork, a frozen file system.
TESTS += tests/live/uninterruptible.sh
EXTRA_DIST += tests/live/uninterruptible.sh

# Interpreters whose functions are not shown.
TESTS += tests/live/unread.sh
EXTRA_DIST += tests/live/unread.sh

# Perf maps that belong to root.
TESTS += tests/live/map_owner.sh
EXTRA_DIST += tests/live/map_owner.sh

# Python processes that sample themselves, with the package of contrib/python.
TESTS += tests/live/notebook.sh
EXTRA_DIST += tests/live/notebook.sh

# The targets are built by rules of their own: how they are compiled is what is tested,
# so that neither CFLAGS nor the sanitizers may have a say in it.
live_source = $(srcdir)/tests/live/targets
live_cc = $(AM_V_CC)$(MKDIR_P) tests/live/bin && $(CC) $(live_flags)
live_flags = -std=gnu11 -D_GNU_SOURCE -pthread $(WARN_CFLAGS)
live_out = -o $@
# For what cannot be built everywhere; its tests are skipped then.
live_or_not = || { rm -f $@; echo "  $@ cannot be built here: its tests will be skipped"; }

live_jit_targets = \
	tests/live/bin/gdbjit tests/live/bin/gdbjit_object tests/live/bin/gdbjit_program
live_plain_targets = \
	tests/live/bin/amdahl tests/live/bin/brink tests/live/bin/accounted tests/live/bin/calls_hot tests/live/bin/calls_parked tests/live/bin/calls_restart \
	tests/live/bin/causal_kinds tests/live/bin/causes tests/live/bin/channel tests/live/bin/churn tests/live/bin/contended tests/live/bin/counted \
	tests/live/bin/copies tests/live/bin/crasher tests/live/bin/crowd \
	tests/live/bin/descriptors \
	tests/live/bin/exec_after \
	tests/live/bin/exec_before tests/live/bin/execs tests/live/bin/forks tests/live/bin/gated \
	tests/live/bin/interrupts \
	tests/live/bin/jitter tests/live/bin/leaves tests/live/bin/locker tests/live/bin/mangled tests/live/bin/many_files tests/live/bin/peers tests/live/bin/postgres tests/live/bin/recurse \
	tests/live/bin/ring tests/live/bin/shared tests/live/bin/shares tests/live/bin/stuck tests/live/bin/throng tests/live/bin/timers tests/live/bin/vforks \
	tests/live/bin/workers
live_shapes = \
	tests/live/bin/shape tests/live/bin/shape_bare tests/live/bin/shape_debug_frame \
	tests/live/bin/shape_debug_frame_gz tests/live/bin/shape_dynsym tests/live/bin/shape_fp \
	tests/live/bin/shape_fp_leaf tests/live/bin/shape_fp_only tests/live/bin/shape_musl \
	tests/live/bin/shape_musl_static \
	tests/live/bin/shape_no_hdr tests/live/bin/shape_nopie tests/live/bin/shape_o0 \
	tests/live/bin/shape_writable \
	tests/live/bin/shape_static tests/live/bin/shape_static_pie tests/live/bin/shape_stripped
check_DATA += $(live_jit_targets) $(live_plain_targets) $(live_shapes) tests/live/bin/plusplus
CLEANFILES += $(live_jit_targets) $(live_plain_targets) $(live_shapes) tests/live/bin/plusplus
live_sources = \
	tests/live/targets/accounted.c tests/live/targets/amdahl.c tests/live/targets/brink.c tests/live/targets/calls.h tests/live/targets/calls_hot.c \
	tests/live/targets/calls_parked.c tests/live/targets/calls_restart.c \
	tests/live/targets/causal_kinds.c tests/live/targets/causes.c tests/live/targets/channel.c tests/live/targets/churn.c tests/live/targets/contended.c tests/live/targets/counted.c \
	tests/live/targets/copies.c tests/live/targets/crasher.c tests/live/targets/crowd.c \
	tests/live/targets/descriptors.c \
	tests/live/targets/exec_after.c tests/live/targets/exec_before.c \
	tests/live/targets/execs.c tests/live/targets/forks.c tests/live/targets/gated.c \
	tests/live/targets/gdbjit.c \
	tests/live/targets/gdbjit.h tests/live/targets/gdbjit_code.c \
	tests/live/targets/interrupts.c tests/live/targets/jitter.c tests/live/targets/leaves.c \
	tests/live/targets/locker.c \
	tests/live/targets/mangled.c tests/live/targets/many_files.c tests/live/targets/plusplus.cc \
	tests/live/targets/recurse.c tests/live/targets/ring.c tests/live/targets/shape.c \
	tests/live/targets/peers.c tests/live/targets/postgres.c tests/live/targets/shared.c tests/live/targets/shares.c \
	tests/live/targets/writable_tables.s \
	tests/live/targets/stuck.c \
	tests/live/targets/target.h tests/live/targets/throng.c tests/live/targets/timers.c \
	tests/live/targets/vforks.c tests/live/targets/workers.c
EXTRA_DIST += $(live_sources) tests/live/python_objects.py

# One rule for all of them: a target is one file.
live_one = $(live_cc) -O2 -g -fomit-frame-pointer $(live_out) $(live_source)/$(@F).c -lrt
live_headers = tests/live/targets/target.h tests/live/targets/calls.h
tests/live/bin/amdahl: tests/live/targets/amdahl.c $(live_headers)
	$(live_one)
tests/live/bin/brink: tests/live/targets/brink.c $(live_headers)
	$(live_one)
tests/live/bin/accounted: tests/live/targets/accounted.c
	$(live_one) -pthread
tests/live/bin/calls_hot: tests/live/targets/calls_hot.c $(live_headers)
	$(live_one)
tests/live/bin/calls_parked: tests/live/targets/calls_parked.c $(live_headers)
	$(live_one)
tests/live/bin/calls_restart: tests/live/targets/calls_restart.c $(live_headers)
	$(live_one)
tests/live/bin/causal_kinds: tests/live/targets/causal_kinds.c $(live_headers)
	$(live_one)
tests/live/bin/causes: tests/live/targets/causes.c
	$(live_one)
tests/live/bin/channel: tests/live/targets/channel.c $(live_headers)
	$(live_one)
tests/live/bin/contended: tests/live/targets/contended.c $(live_headers)
	$(live_one)
tests/live/bin/counted: tests/live/targets/counted.c $(live_headers)
	$(live_one)
tests/live/bin/stuck: tests/live/targets/stuck.c $(live_headers)
	$(live_one)
tests/live/bin/churn: tests/live/targets/churn.c $(live_headers)
	$(live_one)
tests/live/bin/crasher: tests/live/targets/crasher.c $(live_headers)
	$(live_one)
tests/live/bin/crowd: tests/live/targets/crowd.c $(live_headers)
	$(live_one)
tests/live/bin/descriptors: tests/live/targets/descriptors.c $(live_headers)
	$(live_one)
tests/live/bin/exec_after: tests/live/targets/exec_after.c $(live_headers)
	$(live_one)
tests/live/bin/exec_before: tests/live/targets/exec_before.c $(live_headers)
	$(live_one)
tests/live/bin/execs: tests/live/targets/execs.c $(live_headers)
	$(live_one)
tests/live/bin/forks: tests/live/targets/forks.c $(live_headers)
	$(live_one)
tests/live/bin/gated: tests/live/targets/gated.c $(live_headers)
	$(live_one)
tests/live/bin/interrupts: tests/live/targets/interrupts.c $(live_headers)
	$(live_one)
tests/live/bin/leaves: tests/live/targets/leaves.c $(live_headers)
	$(live_one)
tests/live/bin/many_files: tests/live/targets/many_files.c $(live_headers)
	$(live_one)
tests/live/bin/peers: tests/live/targets/peers.c $(live_headers)
	$(live_one)
tests/live/bin/mangled: tests/live/targets/mangled.c $(live_headers)
	$(live_one)
tests/live/bin/postgres: tests/live/targets/postgres.c $(live_headers)
	$(live_one) -rdynamic -pthread
tests/live/bin/recurse: tests/live/targets/recurse.c $(live_headers)
	$(live_one)
tests/live/bin/ring: tests/live/targets/ring.c $(live_headers)
	$(live_one)
tests/live/bin/locker: tests/live/targets/locker.c
	$(live_one)
tests/live/bin/shared: tests/live/targets/shared.c $(live_headers)
	$(live_one)
tests/live/bin/shares: tests/live/targets/shares.c $(live_headers)
	$(live_one)
tests/live/bin/jitter: tests/live/targets/jitter.c $(live_headers)
	$(live_one)
tests/live/bin/copies: tests/live/targets/copies.c $(live_headers)
	$(live_one)
tests/live/bin/throng: tests/live/targets/throng.c $(live_headers)
	$(live_one)
tests/live/bin/timers: tests/live/targets/timers.c $(live_headers)
	$(live_one)
tests/live/bin/vforks: tests/live/targets/vforks.c $(live_headers)
	$(live_one)
tests/live/bin/workers: tests/live/targets/workers.c $(live_headers)
	$(live_one)

# One program, built in every way that matters to an unwinder.
live_shape_needs = tests/live/targets/shape.c tests/live/targets/target.h
live_end = $(live_out) $(live_source)/shape.c
live_no_tables = -fno-asynchronous-unwind-tables -fno-unwind-tables
tests/live/bin/shape: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer $(live_end)
tests/live/bin/shape_fp: $(live_shape_needs)
	$(live_cc) -O2 -fno-omit-frame-pointer $(live_end)
tests/live/bin/shape_o0: $(live_shape_needs)
	$(live_cc) -O0 $(live_end)
tests/live/bin/shape_nopie: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer -fno-pie -no-pie $(live_end)
tests/live/bin/shape_static: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer -static $(live_end) $(live_or_not)
tests/live/bin/shape_static_pie: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer -fPIE -static-pie $(live_end) $(live_or_not)
tests/live/bin/shape_stripped: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer -s $(live_end)
tests/live/bin/shape_dynsym: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer -rdynamic -s $(live_end)
tests/live/bin/shape_debug_frame: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer $(live_no_tables) -g $(live_end)
tests/live/bin/shape_debug_frame_gz: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer $(live_no_tables) -g -gz $(live_end) $(live_or_not)
tests/live/bin/shape_no_hdr: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer -Wl,--no-eh-frame-hdr $(live_end)
tests/live/bin/shape_writable: $(live_shape_needs) tests/live/targets/writable_tables.s
	$(live_cc) -O2 -fomit-frame-pointer $(live_end) $(live_source)/writable_tables.s $(live_or_not)
tests/live/bin/shape_fp_only: $(live_shape_needs)
	$(live_cc) -O0 -fno-omit-frame-pointer $(live_no_tables) -g0 $(live_end)
tests/live/bin/shape_fp_leaf: $(live_shape_needs)
	$(live_cc) -O2 -fno-omit-frame-pointer $(live_no_tables) -g0 $(live_end)
tests/live/bin/shape_bare: $(live_shape_needs)
	$(live_cc) -O2 -fomit-frame-pointer $(live_no_tables) -g0 $(live_end)
tests/live/bin/shape_musl: $(live_shape_needs)
	$(AM_V_CC)$(MKDIR_P) tests/live/bin && test -n "$(MUSL_GCC)" && \
		$(MUSL_GCC) $(live_flags) -O2 -fomit-frame-pointer $(live_end) $(live_or_not)
tests/live/bin/shape_musl_static: $(live_shape_needs)
	$(AM_V_CC)$(MKDIR_P) tests/live/bin && test -n "$(MUSL_GCC)" && \
		$(MUSL_GCC) $(live_flags) -O2 -fomit-frame-pointer -static $(live_end) $(live_or_not)

tests/live/bin/plusplus: tests/live/targets/plusplus.cc
	$(AM_V_GEN)$(MKDIR_P) tests/live/bin && test -n "$(CXX_FOR_TESTS)" && \
		$(CXX_FOR_TESTS) -std=c++11 -D_GNU_SOURCE -pthread -O2 -fomit-frame-pointer \
		$(live_out) $(live_source)/plusplus.cc $(live_or_not)

# Programs that count, for progress points; one with its symbols in a file of their own.
live_counters = \
	tests/live/bin/coded tests/live/bin/coz_points \
	tests/live/bin/counters tests/live/bin/counters_nopie tests/live/bin/counters_plus \
	tests/live/bin/counters_stripped
live_counters_sources = tests/live/targets/counters.c tests/live/targets/counters.h \
	tests/live/targets/counters_more.c
check_DATA += $(live_counters)
CLEANFILES += $(live_counters) tests/live/bin/counters_stripped.debug
EXTRA_DIST += $(live_counters_sources) tests/live/targets/counters_plus.cc \
	tests/live/targets/coded.c tests/live/targets/coz_points.c
tests/live/bin/coded: tests/live/targets/coded.c $(live_headers)
	$(live_one)
tests/live/bin/coz_points: tests/live/targets/coz_points.c $(live_headers)
	$(live_one) -ldl
live_counters_needs = $(live_counters_sources) $(live_headers)
live_counters_build = $(live_cc) -O2 -g $(live_out) $(live_source)/counters.c \
	$(live_source)/counters_more.c
tests/live/bin/counters: $(live_counters_needs)
	$(live_counters_build)
tests/live/bin/counters_nopie: $(live_counters_needs)
	$(live_counters_build) -fno-pie -no-pie
tests/live/bin/counters_stripped: $(live_counters_needs)
	$(live_counters_build) && objcopy --only-keep-debug $@ $@.debug && \
		objcopy --strip-all --add-gnu-debuglink=$@.debug $@ $(live_or_not)
tests/live/bin/counters_plus: tests/live/targets/counters_plus.cc
	$(AM_V_GEN)$(MKDIR_P) tests/live/bin && test -n "$(CXX_FOR_TESTS)" && \
		$(CXX_FOR_TESTS) -std=c++11 -D_GNU_SOURCE -O2 $(live_out) \
		$(live_source)/counters_plus.cc $(live_or_not)

# Each C library has locks of its own.
live_waits = tests/live/bin/waits tests/live/bin/waits_musl tests/live/bin/waits_static
check_DATA += $(live_waits)
CLEANFILES += $(live_waits)
EXTRA_DIST += tests/live/targets/waits.c tests/live/targets/waits.h
live_waits_needs = tests/live/targets/waits.c tests/live/targets/waits.h $(live_headers)
live_waits_end = -O2 -g $(live_out) $(live_source)/waits.c
tests/live/bin/waits: $(live_waits_needs)
	$(live_cc) $(live_waits_end) -lrt
tests/live/bin/waits_static: $(live_waits_needs)
	$(live_cc) -static $(live_waits_end) -lrt $(live_or_not)
tests/live/bin/waits_musl: $(live_waits_needs)
	$(AM_V_CC)$(MKDIR_P) tests/live/bin && test -n "$(MUSL_GCC)" && \
		$(MUSL_GCC) $(live_flags) -static $(live_waits_end) $(live_or_not)

# Code that a target loads at run time, as an object file and linked to a fixed address.
live_jit_code = -O1 -fomit-frame-pointer -fno-pic -fasynchronous-unwind-tables -fno-stack-protector
live_jit_needs = tests/live/targets/gdbjit_code.c tests/live/targets/gdbjit.h
tests/live/bin/gdbjit_object: $(live_jit_needs)
	$(live_cc) $(live_jit_code) -c $(live_out) $(live_source)/gdbjit_code.c
tests/live/bin/gdbjit_program: $(live_jit_needs)
	$(live_cc) $(live_jit_code) -nostdlib -static -Wl,-e,inside_top \
		-Wl,--build-id=none -Wl,-Ttext-segment=0x6a0000000000 \
		$(live_out) $(live_source)/gdbjit_code.c $(live_or_not)
tests/live/bin/gdbjit: tests/live/targets/gdbjit.c tests/live/targets/gdbjit.h \
	tests/live/targets/target.h tests/live/bin/gdbjit_object tests/live/bin/gdbjit_program
	$(live_cc) -O2 -g -fomit-frame-pointer -DGDBJIT_OBJECT='"tests/live/bin/gdbjit_object"' \
		-DGDBJIT_PROGRAM='"tests/live/bin/gdbjit_program"' \
		$(live_out) $(live_source)/gdbjit.c $(live_or_not)

# A runtime that schedules tasks; not every C library can switch stacks.
live_sim_needs = tests/live/targets/sim_tasks.c tests/live/targets/sim_tasks.h
check_DATA += tests/live/bin/sim_tasks
CLEANFILES += tests/live/bin/sim_tasks
EXTRA_DIST += $(live_sim_needs)
tests/live/bin/sim_tasks: $(live_sim_needs) tests/live/targets/target.h
	$(live_one) $(live_or_not)

# A library that stops wallsample within a tick (test_suspended.c).
check_DATA += tests/live/bin/stop_in_tick.so
CLEANFILES += tests/live/bin/stop_in_tick.so
EXTRA_DIST += tests/live/targets/stop_in_tick.c
tests/live/bin/stop_in_tick.so: tests/live/targets/stop_in_tick.c
	$(live_cc) -O2 -g -fPIC -shared $(live_out) $(live_source)/stop_in_tick.c

# Libraries and programs that are put elsewhere, replaced and written over.
live_files_targets = \
	tests/live/bin/elsewhere tests/live/bin/placed tests/live/bin/swap_a.so \
	tests/live/bin/swap_b.so tests/live/bin/swapper
check_DATA += $(live_files_targets)
CLEANFILES += $(live_files_targets)
EXTRA_DIST += tests/live/targets/elsewhere.c tests/live/targets/placed.c \
	tests/live/targets/swap_lib.c tests/live/targets/swapper.c
tests/live/bin/elsewhere: tests/live/targets/elsewhere.c $(live_headers)
	$(live_one)
tests/live/bin/placed: tests/live/targets/placed.c $(live_headers)
	$(live_one)
tests/live/bin/swapper: tests/live/targets/swapper.c $(live_headers)
	$(live_one) -ldl
live_swap = $(live_cc) -O2 -g -fPIC -shared $(live_out) $(live_source)/swap_lib.c
tests/live/bin/swap_a.so: tests/live/targets/swap_lib.c
	$(live_swap) -DLIBRARY=swap_a
tests/live/bin/swap_b.so: tests/live/targets/swap_lib.c
	$(live_swap) -DLIBRARY=swap_b

# The sums of a recording beside the kernel's accounting.
TESTS += tests/live/accounting.sh tests/live/process_exports.sh tests/live/processes.sh tests/live/peers.sh
EXTRA_DIST += tests/live/peers.sh tests/live/peers.py
EXTRA_DIST += tests/live/accounting.sh tests/live/accounting.py tests/live/processes.sh \
	tests/live/process_exports.py tests/live/process_exports.sh \
	tests/live/processes.py tests/live/targets/family.py

# Locks of files, and semaphores and queues of System V.
TESTS += tests/live/file_locks.sh
EXTRA_DIST += tests/live/file_locks.sh tests/live/file_locks.py

# Programs in Python, with every interpreter that the machine has.
live_python_tests = tests/live/python.sh tests/live/python_brink.sh tests/live/python_deadlock.sh \
	tests/live/python_gil.sh tests/live/python_killed.sh tests/live/python_parts.sh \
	tests/live/python_deep.sh tests/live/python_greenlet.sh tests/live/python_starts.sh tests/live/python_tasks.sh \
	tests/live/python_torn.sh
TESTS += $(live_python_tests)
EXTRA_DIST += $(live_python_tests) tests/live/python_check.py tests/live/python_common.sh \
	tests/live/core_returns.py tests/live/killed.py tests/live/python_recording.py \
	tests/live/python_tasks_check.py tests/live/targets/embeds.c \
	tests/live/targets/python_brink.py tests/live/targets/python_execs.py \
	tests/live/targets/python_deadlock.py tests/live/targets/python_gil.py \
	tests/live/targets/python_greenlet.py \
	tests/live/targets/python_parts.py tests/live/targets/python_shapes.py \
	tests/live/targets/python_starts.py tests/live/targets/python_tasks.py \
	tests/live/targets/python_torn.py
check_PROGRAMS += tests/live/python_steps
tests_live_python_steps_LDADD = $(WALLSAMPLE_LIBS)

# Go programs, of the go that there is.
check_PROGRAMS += tests/live/go_compare tests/live/go_steps tests/live/go_tasks
tests_live_go_compare_LDADD = $(WALLSAMPLE_LIBS)
tests_live_go_tasks_LDADD = $(WALLSAMPLE_LIBS)
tests_live_go_steps_LDADD = $(WALLSAMPLE_LIBS)
live_go_tests = tests/live/go_client.sh tests/live/go_demos.sh tests/live/go_killed.sh tests/live/go_lives.sh tests/live/go_peers.sh \
	tests/live/go_names.sh \
	tests/live/go_steps.sh tests/live/go_tasks.sh
TESTS += $(live_go_tests)
EXTRA_DIST += $(live_go_tests) tests/live/go_common.sh \
	tests/live/targets/go_client.go \
	tests/live/targets/go_peers.go tests/live/targets/go_calls.go tests/live/targets/go_demos.go \
	tests/live/targets/go_foreign.go tests/live/targets/go_lives.go \
	tests/live/targets/go_shapes.go tests/live/targets/go_tasks.go

# Tasks of Julia, if it is there.
TESTS += tests/live/julia.sh tests/live/julia_demos.sh
EXTRA_DIST += tests/live/julia.sh tests/live/targets/julia_tasks.jl \
	tests/live/julia_demos.sh tests/live/targets/julia_demos.jl
check_PROGRAMS += tests/live/list_tasks
tests_live_list_tasks_LDADD = $(WALLSAMPLE_LIBS)

# Programs of which arithmetic says what a faster function brings.
live_causal_tests = tests/live/causal.sh tests/live/causal_calls.sh tests/live/causal_ends.sh
TESTS += $(live_causal_tests)
EXTRA_DIST += $(live_causal_tests) tests/live/causal_check.py tests/live/causal_ends.py \
	tests/live/causal_programs.py

# A language with a runtime, added by one folder and one row: wallsample with it, and its program.
check_PROGRAMS += tests/live/toy/wallsample_toy
tests_live_toy_wallsample_toy_SOURCES = src/cli/main.c tests/live/toy/toy_language.c \
	tests/live/toy/toy_languages.c tests/live/toy/toy_vm.h
tests_live_toy_wallsample_toy_LDADD = $(WALLSAMPLE_LIBS)
check_DATA += tests/live/bin/toy_program
CLEANFILES += tests/live/bin/toy_program
TESTS += tests/live/toy.sh
EXTRA_DIST += tests/live/toy.sh tests/live/toy/toy_program.c tests/live/toy/toy_vm.h
tests/live/bin/toy_program: tests/live/toy/toy_program.c tests/live/toy/toy_vm.h \
	tests/live/targets/target.h
	$(live_cc) -O1 -g -fno-omit-frame-pointer $(live_out) $(srcdir)/tests/live/toy/toy_program.c
