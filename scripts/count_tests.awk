# Reads what `ctest --verbose` prints and prints "passed failed skipped". A test that is a doctest program counts as its
# test cases (its line "[gpunet] 3 passed, 0 failed, 1 skipped"), any other one as one. What failed goes to stderr with
# its output, and what was skipped with its reason.

# A line of the output of a test: "12: text".
match($0, /^[0-9]+: /) {
  id = substr($0, 1, RLENGTH - 2)
  text = substr($0, RLENGTH + 1)
  output[id] = output[id] "    " text "\n"
  if (text ~ /skip/ && text !~ /^(\[gpunet\]|\[doctest\]|Test command)/) reasons[id] = reasons[id] "    " text "\n"
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
  name = substr($0, RLENGTH + 1)
  sub(/ \.*.*$/, "", name)
  if ($0 ~ /\*\*\*(Skipped|Not Run \(Disabled\))/) {
    s[id] = cases[id] ? s[id] : 1
    skipped += s[id]
  } else if ($0 ~ /[. ]Passed /) {
    passed += cases[id] ? p[id] : 1
    skipped += s[id]
  } else {
    passed += p[id]
    failed += f[id] > 0 ? f[id] : 1
    skipped += s[id]
    printf "  failed: %s\n%s", name, output[id] > "/dev/stderr"
  }
  if (s[id] > 0) printf "  skipped: %s (%d)\n%s", name, s[id], reasons[id] > "/dev/stderr"
}

END { print passed + 0, failed + 0, skipped + 0 }
