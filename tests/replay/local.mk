# Other programs read the golden files: see tests/README.
replay_tests = \
	tests/replay/causal.sh \
	tests/replay/causes.sh \
	tests/replay/chrome.sh \
	tests/replay/documents.sh \
	tests/replay/exports.sh \
	tests/replay/firefox.sh \
	tests/replay/json.sh \
	tests/replay/perf.sh \
	tests/replay/perf_data.sh \
	tests/replay/perf_data_perf.sh \
	tests/replay/pprof.sh \
	tests/replay/python_lines.sh \
	tests/replay/recording_versions.sh \
	tests/replay/speedscope.sh \
	tests/replay/svg.sh \
	tests/replay/widths.sh
TESTS += $(replay_tests)
EXTRA_DIST += tests/replay
