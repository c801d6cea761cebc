libwallsample_a_SOURCES += \
	src/causal/causal.c
