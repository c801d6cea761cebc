# Unit tests of progress points (src/causal/progress_*.c).
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_progress_words tests/unit/test_progress_values
TESTS += tests/unit/test_progress_words tests/unit/test_progress_values
endif
tests_unit_test_progress_words_SOURCES = tests/unit/test_progress_words.c
tests_unit_test_progress_words_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_progress_words_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_progress_values_SOURCES = tests/unit/test_progress_values.c
tests_unit_test_progress_values_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_progress_values_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
