# What experiments found: curves of it, and its recording.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_causal_curve
TESTS += tests/unit/test_causal_curve
endif
tests_unit_test_causal_curve_SOURCES = tests/unit/test_causal_curve.c tests/unit/causal_scene.c \
	tests/unit/causal_scene.h
tests_unit_test_causal_curve_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_causal_curve_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS) -lm
