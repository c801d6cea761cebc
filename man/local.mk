dist_man_MANS += man/wallsample.1 man/wallsample-causal.1 man/wallsample-completion.1 \
	man/wallsample-containers.7 man/wallsample-diff.1 man/wallsample-dump.1 \
	man/wallsample-formats.5 man/wallsample-go.7 man/wallsample-help.1 \
	man/wallsample-info.1 man/wallsample-java.7 man/wallsample-julia.7 \
	man/wallsample-native.7 man/wallsample-node.7 man/wallsample-python.7 \
	man/wallsample-record.1 man/wallsample-recording.5 man/wallsample-report.1 \
	man/wallsample-theory.7 man/wallsample-tutorial.7
