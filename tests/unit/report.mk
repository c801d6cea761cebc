# From symbols and profile to what is printed. The golden files are rewritten by
#     UPDATE_GOLDEN=1 make check TESTS='tests/unit/test_export tests/unit/test_diff'
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_symbol
TESTS += tests/unit/test_symbol
endif
tests_unit_test_symbol_SOURCES = tests/unit/test_symbol.c tests/unit/made_elf.c tests/unit/made_elf.h
tests_unit_test_symbol_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_symbol_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_symbol_names
TESTS += tests/unit/test_symbol_names
endif
tests_unit_test_symbol_names_SOURCES = tests/unit/test_symbol_names.c
tests_unit_test_symbol_names_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_symbol_names_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_symbol_damage
TESTS += tests/unit/test_symbol_damage
endif
tests_unit_test_symbol_damage_SOURCES = tests/unit/test_symbol_damage.c tests/unit/made_elf.c tests/unit/made_elf.h
tests_unit_test_symbol_damage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_symbol_damage_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_profile
TESTS += tests/unit/test_profile
endif
tests_unit_test_profile_SOURCES = tests/unit/test_profile.c
tests_unit_test_profile_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_profile_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_view
TESTS += tests/unit/test_view
endif
tests_unit_test_view_SOURCES = tests/unit/test_view.c
tests_unit_test_view_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_view_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_view_names
TESTS += tests/unit/test_view_names
endif
tests_unit_test_view_names_SOURCES = tests/unit/test_view_names.c
tests_unit_test_view_names_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_view_names_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_view_script
TESTS += tests/unit/test_view_script
endif
tests_unit_test_view_script_SOURCES = tests/unit/test_view_script.c tests/unit/script_scene.c \
	tests/unit/script_scene.h
tests_unit_test_view_script_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_view_script_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_tree
TESTS += tests/unit/test_tree
endif
tests_unit_test_tree_SOURCES = tests/unit/test_tree.c
tests_unit_test_tree_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_tree_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_finding
TESTS += tests/unit/test_finding
endif
tests_unit_test_finding_SOURCES = tests/unit/test_finding.c
tests_unit_test_finding_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_finding_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_diff
TESTS += tests/unit/test_diff
endif
tests_unit_test_diff_SOURCES = tests/unit/test_diff.c tests/unit/golden.c tests/unit/golden.h
tests_unit_test_diff_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_diff_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_display
TESTS += tests/unit/test_display
endif
tests_unit_test_display_SOURCES = tests/unit/test_display.c
tests_unit_test_display_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_display_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_export
TESTS += tests/unit/test_export
endif
tests_unit_test_export_SOURCES = tests/unit/test_export.c tests/unit/export_scene.c \
	tests/unit/export_scene.h tests/unit/golden.c tests/unit/golden.h
tests_unit_test_export_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_export_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

EXTRA_DIST += \
	tests/replay/diff-60.txt tests/replay/diff-140.txt \
	tests/replay/diff-overhead.txt \
	tests/replay/diff.folded tests/replay/diff.json \
	tests/replay/diff.man tests/replay/diff.md tests/replay/diff.tex \
	tests/replay/dump.folded tests/replay/dump.json tests/replay/dump.txt \
	tests/replay/report.html tests/replay/report.man tests/replay/report.md \
	tests/replay/report.tex \
	tests/replay/report-200.txt \
	tests/replay/report-80.txt \
	tests/replay/report-clean.txt \
	tests/replay/report-latency.txt \
	tests/replay/report-many-threads.txt \
	tests/replay/report-piped.txt \
	tests/replay/report-selected.txt \
	tests/replay/report-threads.txt \
	tests/replay/report-tree.txt \
	tests/replay/script-dump.json tests/replay/script-dump.txt \
	tests/replay/script-lines.folded tests/replay/script-report.txt \
	tests/replay/timeline.html tests/replay/timeline-gil.html \
	tests/replay/stacks-by-thread.folded \
	tests/replay/flame-hostile.svg \
	tests/replay/flame-latency.svg \
	tests/replay/flame.svg \
	tests/replay/report-latency.json \
	tests/replay/report.json \
	tests/replay/stacks-latency.folded \
	tests/replay/stacks-latency.pprof \
	tests/replay/stacks.folded \
	tests/replay/stacks.speedscope.json \
	tests/replay/time-latency.folded \
	tests/replay/time-latency.perf \
	tests/replay/time-latency.speedscope.json \
	tests/replay/time-part.folded \
	tests/replay/time-part.perf \
	tests/replay/time-part.speedscope.json \
	tests/replay/time.folded \
	tests/replay/time.perf \
	tests/replay/time.speedscope.json

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_pprof
TESTS += tests/unit/test_pprof
endif
tests_unit_test_pprof_SOURCES = tests/unit/test_pprof.c tests/unit/made_object.c tests/unit/made_object.h
tests_unit_test_pprof_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pprof_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests/unit/test_pprof-test_pprof.$(OBJEXT): generated/pprof.pb-c.h

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_script_formats
TESTS += tests/unit/test_script_formats
endif
tests_unit_test_script_formats_SOURCES = tests/unit/test_script_formats.c \
	tests/unit/script_scene.c tests/unit/script_scene.h tests/unit/golden.c tests/unit/golden.h
tests_unit_test_script_formats_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_script_formats_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests/unit/test_script_formats-test_script_formats.$(OBJEXT): generated/pprof.pb-c.h

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_recording
TESTS += tests/unit/test_recording
endif
tests_unit_test_recording_SOURCES = tests/unit/test_recording.c \
	tests/unit/recording_scene.c tests/unit/recording_scene.h
tests_unit_test_recording_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_recording_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_parallelism_split
TESTS += tests/unit/test_parallelism_split
endif
tests_unit_test_parallelism_split_SOURCES = tests/unit/test_parallelism_split.c
tests_unit_test_parallelism_split_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_parallelism_split_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_time_formats
TESTS += tests/unit/test_time_formats
endif
tests_unit_test_time_formats_SOURCES = tests/unit/test_time_formats.c \
	tests/unit/golden.c tests/unit/golden.h
tests_unit_test_time_formats_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_time_formats_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_recording_file
TESTS += tests/unit/test_recording_file
endif
tests_unit_test_recording_file_SOURCES = tests/unit/test_recording_file.c \
	tests/unit/recording_scene.c tests/unit/recording_scene.h
tests_unit_test_recording_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_recording_file_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_svg
TESTS += tests/unit/test_svg
endif
tests_unit_test_svg_SOURCES = tests/unit/test_svg.c tests/unit/golden.c tests/unit/golden.h
tests_unit_test_svg_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_svg_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_timeline
TESTS += tests/unit/test_timeline
endif
tests_unit_test_timeline_SOURCES = tests/unit/test_timeline.c tests/unit/golden.c tests/unit/golden.h
tests_unit_test_timeline_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_timeline_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_waiting
TESTS += tests/unit/test_waiting
endif
tests_unit_test_waiting_SOURCES = tests/unit/test_waiting.c tests/unit/recording_scene.c tests/unit/recording_scene.h
tests_unit_test_waiting_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_waiting_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_gil
TESTS += tests/unit/test_gil
endif
tests_unit_test_gil_SOURCES = tests/unit/test_gil.c
tests_unit_test_gil_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_gil_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_gil_time
TESTS += tests/unit/test_gil_time
endif
tests_unit_test_gil_time_SOURCES = tests/unit/test_gil_time.c tests/unit/golden.c tests/unit/golden.h \
	tests/unit/recording_scene.c tests/unit/recording_scene.h
tests_unit_test_gil_time_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_gil_time_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_task_report
TESTS += tests/unit/test_task_report
endif
tests_unit_test_task_report_SOURCES = tests/unit/test_task_report.c tests/unit/golden.c \
	tests/unit/golden.h tests/unit/recording_scene.c tests/unit/recording_scene.h
tests_unit_test_task_report_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_task_report_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

EXTRA_DIST += \
	tests/replay/tasks-by-thread.folded tests/replay/tasks-created-by.folded \
	tests/replay/tasks-dump.txt tests/replay/tasks-frames.folded \
	tests/replay/tasks-report.txt tests/replay/tasks-report-threads.txt

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_causal_report
TESTS += tests/unit/test_causal_report
endif
tests_unit_test_causal_report_SOURCES = tests/unit/test_causal_report.c \
	tests/unit/causal_report_scene.c tests/unit/causal_report_scene.h tests/unit/golden.c tests/unit/golden.h
tests_unit_test_causal_report_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_causal_report_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

EXTRA_DIST += \
	tests/replay/causal-40.txt tests/replay/causal-80.txt tests/replay/causal-plot.txt \
	tests/replay/causal.coz tests/replay/causal.html tests/replay/causal.json \
	tests/replay/causal.man tests/replay/causal.md tests/replay/causal.svg \
	tests/replay/causal.tex tests/replay/causal.txt
