include tests/unit/local.mk
include tests/replay/local.mk
include tests/live/local.mk
include tests/cli/local.mk
include tests/lint/local.mk
include tests/bench/local.mk
include tests/demo/local.mk
include tests/fuzz/local.mk
EXTRA_DIST += tests/README tests/timed.sh

# One kind of tests: make check-lint, check-unit, check-replay, check-cli, check-live, check-fuzz.
# The test harness builds the programs that are tests themselves; scripts need all check programs.
tests_of = $(filter tests/$(1)/%,$(TESTS))
check-lint check-unit: check-%: all
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$(call tests_of,$*)"
check-replay check-cli check-live check-fuzz: check-%: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="$(call tests_of,$*)"
# What takes too long for each change: damaged input for minutes, and every live test. With
# --enable-sanitizers this is the part of the tests that .ci/run leaves out.
LONG_FUZZ_ROUNDS = 20000
check-long: all
	FUZZ_ROUNDS=$(LONG_FUZZ_ROUNDS) $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS="$(call tests_of,fuzz) $(call tests_of,live)"
.PHONY: check-lint check-unit check-replay check-cli check-live check-fuzz check-long
