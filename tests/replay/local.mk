# Other programs read the golden files: see tests/README.
replay_tests = \
	tests/replay/json.sh \
	tests/replay/pprof.sh \
	tests/replay/svg.sh
TESTS += $(replay_tests)
EXTRA_DIST += $(replay_tests)
