libwallsample_a_SOURCES += \
	src/causal/causal.c \
	src/causal/causal_run.c \
	src/causal/curve.c src/causal/curve_fit.c src/causal/curve_fit.h \
	src/causal/match.c src/causal/match.h \
	src/causal/plan.c src/causal/plan.h \
	src/causal/progress_explain.c \
	src/causal/progress_io.c \
	src/causal/progress_open.c \
	src/causal/progress_parts.h \
	src/causal/progress_place.c src/causal/progress_place.h \
	src/causal/progress_read.c \
	src/causal/progress_value.c \
	src/causal/progress_words.c src/causal/progress_words.h
