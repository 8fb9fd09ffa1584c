# Reads the output of `ctest --verbose` and prints "passed failed skipped". A doctest program counts by its test cases (its line
# "[gpunet] 3 passed, 0 failed, 1 skipped"), any other test as one. Failed tests are printed to stderr with their output,
# skipped ones with the reason, or with all of their output if no line of it has the word "skip".
# With -v entries=FILE, each test is also appended to that file, as a line with tabs: name, state (ok,
# failed, hung or skipped), the three counts, and the cause if it did not pass.

# A line of the output of a test: "12: text".
match($0, /^[0-9]+: /) {
  id = substr($0, 1, RLENGTH - 2)
  text = substr($0, RLENGTH + 1)
  output[id] = output[id] "    " text "\n"
  if (text ~ /skip/ && text !~ /^(\[gpunet\]|\[doctest\]|Test command)/) {
    reasons[id] = reasons[id] "    " text "\n"
    if (!(id in skip_cause)) skip_cause[id] = text
  }
  if (!(id in cause) && text ~ /ERROR: |CUDA error|^failed: /) {
    cause[id] = text
    sub(/^.*ERROR: /, "", cause[id])
  }
  if (text ~ /^\[gpunet\] [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) {
    split(text, words, " ")
    cases[id] = 1; p[id] = words[2]; f[id] = words[4]; s[id] = words[6]
  }
  next
}

# How a test ended: " 3/12 Test  #7: name ......***Failed    0.01 sec".
match($0, /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /) {
  id = substr($0, 1, RLENGTH - 2)
  sub(/^.*#/, "", id)
  name = end = substr($0, RLENGTH + 1)
  sub(/ \.*.*$/, "", name)
  sub(/^.*\*\*\*/, "", end)
  sub(/ +[0-9.]+ sec.*$/, "", end)
  if ($0 ~ /\*\*\*(Skipped|Not Run \(Disabled\))/) {
    s[id] = cases[id] ? s[id] : 1
    count(id, name, "skipped", 0, 0, skip_cause[id])
  } else if ($0 ~ /[. ]Passed /) {
    count(id, name, "ok", cases[id] ? p[id] : 1, 0, "")
  } else {
    count(id, name, end == "Timeout" ? "hung" : "failed", p[id], f[id] > 0 ? f[id] : 1, id in cause ? cause[id] : end)
    printf "  failed: %s\n%s", name, output[id] > "/dev/stderr"
  }
  if (s[id] > 0) printf "  skipped: %s (%d)\n%s", name, s[id], id in reasons ? reasons[id] : output[id] > "/dev/stderr"
}

function count(id, name, state, p, f, cause) {
  passed += p
  failed += f
  skipped += s[id]
  gsub(/\t/, " ", cause)
  if (entries) printf "%s\t%s\t%d\t%d\t%d\t%s\n", name, state, p, f, s[id], cause >> entries
}

END { print passed + 0, failed + 0, skipped + 0 }
