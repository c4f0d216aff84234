# Reads the output of `mvn verify`: lets progress, warnings and failures through, and ends with a
# table of test totals and one line in Surefire's form. Exits 1 when no test ran.

function close_module() {
  if (module != "" && ran) {
    order[++modules] = module
    modules_run[module] = run
    modules_failed[module] = failures + errors
    modules_skipped[module] = skipped
    total_run += run; total_failures += failures; total_errors += errors; total_skipped += skipped
  }
  run = failures = errors = skipped = ran = 0
}

/^\[INFO\] Building orbitkv/ {
  close_module()
  module = $3
  sub(/^orbitkv-?/, "", module)
  if (module != "") { printf "building %s\n", module; fflush() }
  trace = 0
  next
}

# A module's closing line has no elapsed time.
/Tests run: [0-9]+, Failures: [0-9]+, Errors: [0-9]+, Skipped: [0-9]+ *$/ {
  split($0, field, /[:,]/)
  run += field[2]; failures += field[4]; errors += field[6]; skipped += field[8]
  ran = 1
  print; fflush()
  next
}

/^(skipped|warning): / { print; fflush(); next }

# Maven's own advice about Maven.
/^\[ERROR\] *($|-> \[Help|To see the full|Re-run Maven|For more information|After correcting|mvn <args>|\[Help|See dump files)/ { next }

/^\[ERROR\]/ {
  print; fflush()
  trace = /<<< (FAILURE|ERROR)!/ ? 40 : 0
  next
}

/JAR will be empty/ { next }

/^\[/ { trace = 0; if (/^\[WARNING\]/) { print; fflush() } next }

trace > 0 { print; trace-- }

END {
  close_module()
  printf "\n%-10s %7s %7s %8s\n", "module", "tests", "failed", "skipped"
  for (i = 1; i <= modules; i++) {
    m = order[i]
    printf "%-10s %7d %7d %8d\n", m, modules_run[m], modules_failed[m], modules_skipped[m]
  }
  printf "Tests run: %d, Failures: %d, Errors: %d, Skipped: %d\n", total_run, total_failures, total_errors, total_skipped
  if (total_run == 0) { print "no test ran"; exit 1 }
}
