include tests/unit/local.mk
include tests/replay/local.mk
include tests/live/local.mk
include tests/cli/local.mk
include tests/lint/local.mk
include tests/bench/local.mk
include tests/demo/local.mk
include tests/fuzz/local.mk
EXTRA_DIST += tests/README
