# Causal profiles: holds, what experiments found, curves of it, and its recording.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_causal_curve
TESTS += tests/unit/test_causal_curve
endif
tests_unit_test_causal_curve_SOURCES = tests/unit/test_causal_curve.c tests/unit/causal_scene.c \
	tests/unit/causal_scene.h
tests_unit_test_causal_curve_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_causal_curve_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS) -lm

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_recording_causal
TESTS += tests/unit/test_recording_causal
endif
tests_unit_test_recording_causal_SOURCES = tests/unit/test_recording_causal.c \
	tests/unit/causal_scene.c tests/unit/causal_scene.h \
	tests/unit/recording_scene.c tests/unit/recording_scene.h
tests_unit_test_recording_causal_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_recording_causal_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS) -lm

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_hold
TESTS += tests/unit/test_hold
endif
tests_unit_test_hold_SOURCES = tests/unit/test_hold.c
tests_unit_test_hold_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_hold_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS) -lm

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_priority
TESTS += tests/unit/test_priority
endif
tests_unit_test_priority_SOURCES = tests/unit/test_priority.c
tests_unit_test_priority_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_priority_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_in_progress
TESTS += tests/unit/test_in_progress
endif
tests_unit_test_in_progress_SOURCES = tests/unit/test_in_progress.c
tests_unit_test_in_progress_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_in_progress_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS) -lm
