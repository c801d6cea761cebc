# The bench: `make bench`, with BENCH_ARGS=--quick and the like. Not built by `make`.
bench_program_files = tests/bench/bin/bench_run tests/bench/bin/bench_floor tests/bench/bin/bench_busy \
	tests/bench/bin/bench_handover tests/bench/bin/bench_churn
EXTRA_PROGRAMS += $(bench_program_files)
CLEANFILES += $(bench_program_files)

bench_board_files = tests/bench/bench_board.c tests/bench/bench_board.h
tests_bench_bin_bench_run_SOURCES = $(bench_board_files) \
	tests/bench/bench_run.c \
	tests/bench/bench_rows.c tests/bench/bench_rows.h \
	tests/bench/bench_judge.c tests/bench/bench_judge.h \
	tests/bench/bench_profile.c tests/bench/bench_profile.h \
	tests/bench/bench_measure.c tests/bench/bench_measure.h \
	tests/bench/bench_tool.c tests/bench/bench_tool.h
tests_bench_bin_bench_run_LDADD = -lm -lpthread
tests_bench_bin_bench_floor_SOURCES = $(bench_board_files) tests/bench/bench_floor.c
tests_bench_bin_bench_floor_LDADD = -lpthread
tests_bench_bin_bench_busy_SOURCES = $(bench_board_files) tests/bench/bench_busy.c
tests_bench_bin_bench_busy_LDADD = -lpthread
tests_bench_bin_bench_handover_SOURCES = $(bench_board_files) tests/bench/bench_handover.c
tests_bench_bin_bench_handover_LDADD = -lpthread
tests_bench_bin_bench_churn_SOURCES = $(bench_board_files) tests/bench/bench_churn.c
tests_bench_bin_bench_churn_LDADD = -lpthread

# Names by DWARF, as eu-addr2line prints them: tests/bench/names.sh times it, and
# tests/replay/names_corpus.sh compares it.
check_PROGRAMS += tests/bench/bench_names
tests_bench_bench_names_SOURCES = tests/bench/bench_names.c
tests_bench_bench_names_LDADD = $(WALLSAMPLE_LIBS)
# Packages of split DWARF for it.
check_PROGRAMS += tests/bench/make_dwp
tests_bench_make_dwp_SOURCES = tests/bench/make_dwp.c tests/unit/scene/made_package.c \
	tests/unit/scene/made_package.h
tests_bench_make_dwp_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/replay/names_corpus.sh
names_corpus = \
	tests/replay/names/calls.c tests/replay/names/calls_more.c tests/replay/names/shapes.cc \
	tests/replay/names/shapes.h tests/replay/names/shapes.rs tests/replay/names/shapes_more.cc
EXTRA_DIST += tests/bench/names.sh tests/replay/names_corpus.sh \
	tests/replay/names_compare.awk $(names_corpus)

bench-names: tests/bench/bench_names$(EXEEXT)
	@BUILD=$(abs_builddir) SOURCE=$(abs_srcdir) $(srcdir)/tests/bench/names.sh $(BENCH_ARGS)
.PHONY: bench-names

# A report of a large recording.
EXTRA_PROGRAMS += tests/bench/bin/bench_recording
CLEANFILES += tests/bench/bin/bench_recording
tests_bench_bin_bench_recording_SOURCES = tests/bench/bench_recording.c
tests_bench_bin_bench_recording_LDADD = $(WALLSAMPLE_LIBS)

bench-recording: wallsample$(EXEEXT) tests/bench/bin/bench_recording
	@tests/bench/bin/bench_recording $(abs_builddir)/wallsample \
		$(abs_builddir)/tests/bench/bin/large.wsdb $(BENCH_ARGS)
.PHONY: bench-recording

# Tasks that a runtime schedules, by a sampler of its own.
EXTRA_PROGRAMS += tests/bench/bin/bench_tasks
CLEANFILES += tests/bench/bin/bench_tasks
tests_bench_bin_bench_tasks_SOURCES = $(live_sim) tests/bench/bench_tasks.c
tests_bench_bin_bench_tasks_LDADD = tests/live/libharness.a $(WALLSAMPLE_LIBS) -lm

bench-tasks: tests/bench/bin/bench_tasks tests/live/bin/sim_tasks
	@WALLSAMPLE=$(abs_builddir)/wallsample BUILD=$(abs_builddir) tests/bench/bin/bench_tasks
.PHONY: bench-tasks

# What `wallsample causal` predicts, against arithmetic and what really comes of it.
EXTRA_DIST += tests/bench/causal_truth.py tests/bench/causal_predict.py

bench-causal: wallsample$(EXEEXT) tests/live/bin/causal_kinds
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/bench/causal_truth.py \
		--target $(abs_builddir)/tests/live/bin/causal_kinds \
		--wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
.PHONY: bench-causal

# Errors that the length of ticks causes, by simulation.
EXTRA_DIST += tests/bench/causal_ticks.py

bench-causal-ticks:
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/bench/causal_ticks.py $(BENCH_ARGS)
.PHONY: bench-causal-ticks

# Compares predictions for servers and a Python program with the gains obtained by less work.
EXTRA_DIST += tests/bench/causal_real.py tests/bench/causal_work.c tests/bench/causal_http.go \
	tests/bench/causal_threads.py
CLEANFILES += tests/bench/bin/causal_work.so
tests/bench/bin/causal_work.so: tests/bench/causal_work.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -D_GNU_SOURCE $(CFLAGS) -shared -fPIC -o $@ $< -ldl

bench-causal-real: wallsample$(EXEEXT) tests/bench/bin/causal_work.so
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/bench/causal_real.py \
		--library $(abs_builddir)/tests/bench/bin/causal_work.so \
		--wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
.PHONY: bench-causal-real

# The programs of bench-causal with coz. coz works by lines, so nothing may be inlined, and reads
# DWARF 3.
EXTRA_DIST += tests/bench/causal_coz.py
CLEANFILES += tests/bench/bin/causal_kinds_coz
tests/bench/bin/causal_kinds_coz: tests/live/targets/causal_kinds.c $(live_headers)
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) $(live_flags) -DHAVE_COZ -O2 -fno-inline \
		-g -gdwarf-3 -gstrict-dwarf -o $@ $(live_source)/causal_kinds.c -lrt -ldl || \
		{ echo "This needs coz. On Debian and Ubuntu: apt-get install coz-profiler"; exit 1; }

bench-causal-coz: wallsample$(EXEEXT) tests/bench/bin/causal_kinds_coz
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/bench/causal_coz.py \
		--target $(abs_builddir)/tests/bench/bin/causal_kinds_coz \
		--source $(abs_srcdir)/tests/live/targets/causal_kinds.c \
		--wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
.PHONY: bench-causal-coz

# A program with SQLite, predicted and obtained.
EXTRA_PROGRAMS += tests/bench/bin/sqlite_orders
CLEANFILES += tests/bench/bin/sqlite_orders
EXTRA_DIST += tests/bench/causal_sqlite.py
tests_bench_bin_sqlite_orders_SOURCES = tests/bench/sqlite_orders.c tests/live/targets/target.h
tests_bench_bin_sqlite_orders_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/live/targets
tests_bench_bin_sqlite_orders_LDADD = $(SQLITE_LIBS) $(ZLIB_LIBS) -lpthread

bench-causal-sqlite: wallsample$(EXEEXT) tests/bench/bin/sqlite_orders
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/bench/causal_sqlite.py \
		--target $(abs_builddir)/tests/bench/bin/sqlite_orders \
		--wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
.PHONY: bench-causal-sqlite

bench: wallsample$(EXEEXT) $(bench_program_files) tests/bench/bin/bench_recording
	@WALLSAMPLE=$(abs_builddir)/wallsample tests/bench/bin/bench_run $(BENCH_ARGS)
	@test -n "$(BENCH_ARGS)" || $(MAKE) bench-recording bench-tasks
.PHONY: bench

# Margins of error in many short runs.
EXTRA_PROGRAMS += tests/bench/bin/bench_shares
CLEANFILES += tests/bench/bin/bench_shares
EXTRA_DIST += tests/bench/margins.py
tests_bench_bin_bench_shares_SOURCES = tests/bench/bench_shares.c
tests_bench_bin_bench_shares_LDADD = -lpthread

bench-margins: wallsample$(EXEEXT) tests/bench/bin/bench_shares
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/bench/margins.py \
		--target $(abs_builddir)/tests/bench/bin/bench_shares \
		--wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
.PHONY: bench-margins

# bench-accuracy compares shares of functions with known shares, the programs' own clocks or perf,
# and the times of servers' threads with the kernel's counters.
EXTRA_DIST += tests/bench/accuracy.py tests/bench/accuracy_sides.py \
	tests/bench/accuracy_threads.py tests/bench/accuracy_programs.py \
	tests/bench/accuracy_servers.py tests/bench/accuracy_http.go \
	tests/bench/AccuracyHttp.java tests/bench/accuracy_sums.py \
	tests/bench/accuracy_slowed.py tests/bench/slow_calls.c tests/bench/call_clock.c
CLEANFILES += tests/bench/bin/slow_calls.so tests/bench/bin/call_clock.so
tests/bench/bin/slow_calls.so tests/bench/bin/call_clock.so: tests/bench/bin/%.so: tests/bench/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) $(CFLAGS) -shared -fPIC -o $@ $< -ldl -lpthread

accuracy = PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/bench
bench-accuracy: wallsample$(EXEEXT) tests/bench/bench_calls$(EXEEXT) \
		tests/bench/bin/sqlite_orders$(EXEEXT) tests/bench/bin/slow_calls.so \
		tests/bench/bin/call_clock.so
	@$(accuracy)/accuracy.py --target $(abs_builddir)/tests/bench/bench_calls \
		--wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
	@$(accuracy)/accuracy_threads.py --wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
	@$(accuracy)/accuracy_programs.py --wallsample $(abs_builddir)/wallsample \
		--library $(abs_builddir)/tests/bench/bin/call_clock.so $(BENCH_ARGS)
	@$(accuracy)/accuracy_sums.py --wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
	@$(accuracy)/accuracy_slowed.py --target $(abs_builddir)/tests/bench/bin/sqlite_orders \
		--library $(abs_builddir)/tests/bench/bin/slow_calls.so \
		--wallsample $(abs_builddir)/wallsample $(BENCH_ARGS)
.PHONY: bench-accuracy
