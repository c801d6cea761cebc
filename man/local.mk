dist_man_MANS += man/wallsample.1 man/wallsample-theory.7 man/wallsample-formats.5
