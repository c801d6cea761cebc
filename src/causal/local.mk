libwallsample_a_SOURCES += \
	src/causal/causal.c \
	src/causal/causal.c src/causal/curve.c src/causal/curve_fit.c src/causal/curve_fit.h \
	src/causal/causal_run.c \
	src/causal/match.c src/causal/match.h \
	src/causal/plan.c src/causal/plan.h
