include tests/unit/base.mk
include tests/unit/target.mk
include tests/unit/names.mk
include tests/unit/report.mk
include tests/unit/core.mk
include tests/unit/runtime.mk
include tests/unit/go.mk
include tests/unit/python.mk
