# Doxygen's view of a header: comments are // in the sources, and this says which of them are documentation. As many lines come
# out as go in, so that warnings name the right ones.
#
#   the first lines of a file                     are about the file
#   lines before a declaration                    are about it, and about those that follow without a blank line or a comment
#   what stands behind a declaration in its line  is about that
#   what is inside of functions                   is left as it is
#   GPUNET_REFUSED_...(...) and GPUNET_NO_...     are left out: calls that do not compile
#
# Lines that are indented in a comment are shown as they are. Some things need no comment of their own: what is defaulted or
# deleted; names for types, and functions of one statement, of which the reference shows the code; the constructors of a class, and the
# data of a struct, which its comment is about; operators that write to a stream; and the members of the contracts in nn/layer.hpp,
# ops/elementwise.hpp, nn/loss.hpp, data/dataset.hpp, train/fit.hpp and optim/update.hpp.

BEGIN {
  contract = "(output|parameters|buffers|scratch|cache_bytes|forward|backward|extra_repr|multiply_adds|evaluate|check|check_output|sample_sizes|read" \
    "|bounds|options|lower|append|read_bytes|is_random|has_bytes|image|operator\\(\\)|value|(target_)?gradient(_[ab])?|on_[a-z_]*|before_update|validate|run|class_name)"
}

# Characters that mean something to Doxygen.
function plain(text) {
  gsub(/[\\@<>&$#%"~|]/, "\\\\&", text)
  gsub(/::/, "\\::", text)
  return text
}

# Line i of the `count` comment lines that wait for a declaration.
function shown(i, count,    text, before, after) {
  text = comment[i]
  if (text !~ /^   /) return plain(text)
  before = i > 1 && comment[i - 1] ~ /^   /
  after = i < count && comment[i + 1] ~ /^   /
  return (before ? "" : " @code{.cpp}") text (after ? "" : " @endcode")
}

# Prints them: as documentation, which further declarations may share, or as what they were.
function flush_comments(is_documentation,    i) {
  if (is_documentation) together = ""
  for (i = 1; i <= comments; ++i) {
    print indent[i] (is_documentation ? "///" shown(i, comments) : "//" comment[i])
    if (is_documentation && comment[i] !~ /^   /) together = together plain(comment[i])
  }
  comments = 0
}

# What the brace that follows `text` opens.
function opened_by(text) {
  if (text ~ /(^| )namespace( |$)/) return "namespace"
  if (text ~ /(^| )enum /) return "enum"
  gsub(/requires *\([^{]*\)/, "", text)
  gsub(/template *<[^<>]*(<[^<>]*>[^<>]*)*>/, "", text)
  return text ~ /(^|[ >)])(class|struct|union) / && text !~ /[()=]/ ? "class" : "body"
}

# Follows the braces of a line without its comments.
function follow(code,    i, c, rest) {
  gsub(/\\["'\\]/, "", code)
  gsub(/"[^"]*"/, "\"\"", code)
  gsub(/'[^']'/, "0", code)
  for (i = 1; i <= length(code); ++i) {
    c = substr(code, i, 1)
    if (c == "{") {
      kept[++depth] = statement
      outside[depth] = parentheses
      kind[depth] = kind[depth - 1] == "body" ? "body" : opened_by(statement)
      statement = ""
      parentheses = 0
    } else if (c == "}") {
      statement = kept[depth]
      parentheses = outside[depth]
      rest = substr(code, i + 1)
      if (kind[depth] == "namespace") statement = ""
      if (kind[depth] == "body" && parentheses == 0 && rest !~ /^ *[,;){(&|>]/ && statement !~ /requires *$/) statement = ""
      if (depth > 0) --depth
    } else if (c == ";" && parentheses == 0) {
      statement = ""
    } else {
      parentheses += (c == "(") - (c == ")")
      if (c != " " || statement != "") statement = statement c
    }
  }
  if (statement ~ /^ *(public|private|protected) *:$/) statement = ""
}

# The declaration that begins in line i, up to its brace or its end.
function declaration(i,    text) {
  for (text = ""; i <= lines && text !~ /[;{]/; ++i) text = text " " line[i]
  return text
}

# The line with a documentation for what it declares: for each name, where there are several; the first may have one.
function documented(code, text, first_has,    out, i, c, open, is_data) {
  match(code, /^ */)
  out = substr(code, 1, RLENGTH) (first_has ? "" : "/**" text "*/ ")
  is_data = (code ~ /; *$/ || code ~ /^ *static constexpr .*, *$/) && code !~ /^[^={]*\(/ && code !~ /^ *(using|template) /
  for (i = RLENGTH + 1; i <= length(code); ++i) {
    c = substr(code, i, 1)
    open += index("({[<", c) > 0
    open -= index(")}]>", c) > 0
    out = out c (is_data && c == "," && open == 0 ? " /**" text "*/" : "")
  }
  return out
}

# A word about what needs no comment.
function obvious(i,    text, name) {
  text = line[i]
  if (text ~ /\{ *$/ && line[i + 2] ~ /^ *\}$/) text = text line[i + 1] " }"
  if (text ~ /^ *(using|typedef) / || text ~ /= (default|delete|0); *$/ || text ~ /^[^={]*\(.*\{.*\} *$/) {
    sub(/^ */, "", text)
    gsub(/\*\//, "* /", text)
    return " @code{.cpp} " text " @endcode "
  }
  if (text ~ /^ *static constexpr (bool [a-z_]+ = true|std::string_view function_name = .*|OfIntegers of_integers = .*);$/) return " As the contract says. "
  text = declaration(i)
  if (text ~ /ostream& operator<</) return " Writes it as text. "
  sub(/^ *template *<[^<>]*(<[^<>]*>[^<>]*)*> */, "", text)
  if (text ~ "^[^(]* " contract "\\(" && FILENAME ~ /\/(functions|nn|data|train|optim|extras)\//) return " As the contract says. "
  if (text ~ "^ *(constexpr |consteval |explicit )*" class_name "\\(" || text ~ /^ *[A-Za-z0-9]+\(.*\) *->/) return " See the description of the class. "
  if (all_data[depth] && text !~ /^[^={]*\(.*\) *(const)? *\{/) return " See the description above. "
  return ""
}

{ line[++lines] = $0 }

END {
  kind[0] = "namespace"
  for (n = 1; n <= lines; ++n) {
    text = line[n]
    if (n == heads + 1 && text ~ /^\/\//) {  # the first lines
      ++heads
      text = plain(substr(text, 3))
      print n == 1 ? "/// @file\\ilinebr @brief" text : "///" text
      continue
    }
    starts = kind[depth] == "enum" || (kind[depth] != "body" && statement == "")
    if (text ~ /^ *\/\// && starts) {
      match(text, /^ */)
      indent[++comments] = substr(text, 1, RLENGTH)
      comment[comments] = substr(text, RLENGTH + 3)
      continue
    }
    if (text ~ /^ *$/ || text ~ /^ *\/\//) {
      flush_comments(0)
      if (starts) together = ""
      print text
      continue
    }
    if (text ~ /^ *#/ || continued) {
      flush_comments(text ~ /^ *# *define/)
      together = ""
      continued = text ~ /\\$/
      print text
      continue
    }
    if (refused > 0 || (starts && text ~ /^ *GPUNET_(REFUSED|NO)_/)) {  # up to its closing parenthesis
      flush_comments(0)
      together = ""
      code = text
      gsub(/"[^"]*"/, "", code)
      refused += gsub(/\(/, "", code) - gsub(/\)/, "", code)
      print ""
      continue
    }

    code = text
    behind = ""
    if (match(text, /[^:"]\/\/ .*$/) && text !~ /"[^"]*\/\/[^"]*"/) {
      behind = substr(text, RSTART + 3)
      code = substr(text, 1, RSTART)
    }
    declares = starts && code !~ /^ *([})]|public:|private:|protected:|friend |static_assert|using namespace|namespace |inline namespace )/
    said = ""
    flush = comments > 0
    if (flush) flush_comments(declares)
    if (!declares && starts) together = ""
    if (declares && !flush && behind == "") said = together != "" ? together " " : obvious(n)
    before = depth
    follow(code)
    if (declares) is_told = flush || said != ""
    if (depth > before && kind[depth] == "class") {
      class_name = kept[depth]
      sub(/^.*(class|struct) +/, "", class_name)
      sub(/[^A-Za-z0-9_].*/, "", class_name)
      names[depth] = class_name
    }
    if (depth < before) class_name = names[depth]
    if (depth > before) all_data[depth] = kind[depth] == "enum" || (kind[depth] == "class" && is_told && kept[depth] ~ /struct /)
    if ((depth > before && kind[depth] != "body") || (depth < before && kind[before] != "body")) together = ""
    if (said != "") code = documented(code, said)
    else if (declares && flush && behind == "" && depth == before) code = documented(code, together " ", 1)
    if (behind != "" && starts && code !~ /^ *[})]/ && kind[depth] != "body" && (statement == "" || kind[depth] == "enum")) {
      if (kind[depth] != "enum" && depth == before) code = documented(code, plain(behind) " ")
      else behind = "/< " plain(behind)
    }
    print code (behind != "" ? "//" behind : "")
  }
  flush_comments(0)
}
