libwallsample_a_SOURCES += \
	src/wait/wait_kind.c
