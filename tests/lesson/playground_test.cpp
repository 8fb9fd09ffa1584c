#include <bit>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include <gpunet/io/json.hpp>

#include "../../examples/support/playground_options.hpp"
#include "../../examples/support/playground_page.hpp"
#include "../../examples/support/playground_watch.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using namespace examples;

namespace {

// The bytes that base 64 stands for, as floats.
std::vector<float> unpacked(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  unsigned word = 0, bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    word = word << 6 | static_cast<unsigned>(digits.find(c));
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<unsigned char>(word >> (bits -= 8)));
  }
  std::vector<float> values;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4)
    values.push_back(std::bit_cast<float>(bytes[i] | std::uint32_t{bytes[i + 1]} << 8 |
                                          std::uint32_t{bytes[i + 2]} << 16 |
                                          std::uint32_t{bytes[i + 3]} << 24));
  return values;
}

// What is in a page's JSON: texts, and lists of numbers or texts.
struct PageData {
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<index_t>> numbers;
  std::vector<std::string> features;

  explicit PageData(const std::string& json) {
    io::detail::JsonReader reader(json, "the page", 0);
    reader.object([&](const std::string& key) {
      if (key == "features")
        reader.array([&] { features.push_back(reader.string()); });
      else if (key == "sizes" || key == "epochs")
        reader.array([&] { numbers[key].push_back(reader.integer()); });
      else if (key == "train")
        numbers[key] = {reader.integer()};
      else
        texts[key] = reader.string();
    });
    reader.finish();
  }
};

PlaygroundSettings settings_of(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "05_playground");
  return read_settings(static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()));
}
std::string message_of(std::vector<const char*> arguments) {
  return error_of([&] {
    const PlaygroundSettings settings = settings_of(arguments);
    const Problem problem(settings);
  });
}

// A file in memory that is a terminal, or is none.
struct Text {
  char* data = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&data, &size);
  ~Text() {
    std::fclose(file);
    std::free(data);
  }
  std::string get() {
    std::fflush(file);
    return {data, size};
  }
  train::Terminal terminal(bool interactive) {
    return {.lines = file,
            .interactive = interactive ? [](std::FILE*) { return true; } : [](std::FILE*) { return false; },
            .columns = [](std::FILE*) { return 60; },
            .rows = [](std::FILE*) { return 24; }};
  }
};

// Sets NO_COLOR for a while.
struct NoColor {
  explicit NoColor(const char* value) {
    if (const char* old = std::getenv("NO_COLOR")) before = old;
    setenv("NO_COLOR", value, 1);
  }
  ~NoColor() { before ? setenv("NO_COLOR", before->c_str(), 1) : unsetenv("NO_COLOR"); }
  std::optional<std::string> before;
};

}  // namespace

TEST_CASE("a problem has the points of its name, those to learn from first") {
  const PlaygroundSettings settings =
      settings_of({"--data", "spiral", "--points", "40", "--train-ratio", "30", "--features",
                   "x2,x1x2,sinx1,x1^2"});
  const Problem problem(settings);
  CHECK(problem.size() == 12);
  CHECK(problem.points.size() == 40);
  const auto made = data::make_spiral(40);
  const auto split = data::train_test_split(40, {.test_size = 0.7, .random_state = 0});
  CHECK(problem.points.samples[0] == made.samples[static_cast<std::size_t>(2 * split.train[0])]);
  CHECK(problem.points.samples[24] == made.samples[static_cast<std::size_t>(2 * split.test[0])]);
  CHECK(problem.inputs({2, -3}) == std::vector<float>{-3, -6, std::sin(2.0f), 4});
  std::vector<float> sample(4);
  CHECK(problem.read(5, sample.data()) == problem.points.labels[5]);
  CHECK(sample == problem.inputs({problem.points.samples[10], problem.points.samples[11]}));
}

TEST_CASE("a moment has mean losses and accuracies") {
  Problem problem(settings_of({"--points", "10", "--train-ratio", "20"}));
  problem.points.labels = {1, 0, 1, 1, 0, 0, 1, 1, 0, 0};
  // Leads of the right class: 0 for the two to learn from, one of which is class 0; then log 3,
  // where p = 3/4, and once -log 3.
  const float lead = std::log(3.0f);
  std::vector<float> logits;
  for (std::size_t i = 0; i < 10; ++i) {
    const float x = i < 2 ? 0 : i == 9 ? -lead : lead;
    const bool first = problem.points.labels[i] == 0;
    logits.insert(logits.end(), {1 + (first ? x : 0), 1 + (first ? 0 : x)});
  }
  const Moment moment(7, problem, logits, {1, 2});
  CHECK(moment.train_loss == doctest::Approx(std::log(2.0)).epsilon(1e-6));
  CHECK(moment.test_loss == doctest::Approx(std::log(4.0) - 7.0 / 8 * std::log(3.0)).epsilon(1e-6));
  CHECK(moment.train_accuracy == 0.5f);
  CHECK(moment.test_accuracy == 0.875f);
  logits[3] = std::nanf("");
  CHECK(contains(error_of([&] { Moment(7, problem, logits, {}); }),
                 "the loss of epoch 7 is not finite"));
}

TEST_CASE("a recording keeps the first epochs, fewer of the later ones, and the last") {
  const Problem problem(settings_of({"--points", "10"}));
  for (const index_t epochs : {1, 7, 100, 100'000}) {
    Recording recording(epochs);
    for (index_t epoch = 0; epoch <= epochs; ++epoch)
      if (recording.keeps(epoch) || epoch < 20)
        recording.add({epoch, problem, std::vector<float>(20), {}});
    std::vector<index_t> kept;
    for (const Moment& moment : recording.moments())
      kept.push_back(moment.epoch);
    CHECK(kept.front() == 0);
    CHECK(kept.back() == epochs);
    CHECK(kept.size() ==
          (epochs == 100 ? 95 : std::min<std::size_t>(static_cast<std::size_t>(epochs), 150) + 1));
    CHECK(kept.size() > (epochs == 100 ? 60u : 1u));
    for (std::size_t i = 2; i < kept.size(); ++i)
      CHECK(kept[i] - kept[i - 1] >= kept[i - 1] - kept[i - 2] - 1);
  }
  Recording stopped(100'000);  // by Ctrl-C
  for (index_t epoch = 0; epoch <= 30; ++epoch)
    stopped.add({epoch, problem, std::vector<float>(20), {}});
  CHECK(stopped.moments().back().epoch == 30);
  CHECK(stopped.moments()[stopped.moments().size() - 2].epoch == 18);
}

TEST_CASE("the page's data are JSON, and give back the numbers") {
  const PlaygroundSettings settings =
      settings_of({"--points", "12", "--layers", "3", "--features", "x1^2", "--epochs", "2",
                   "--activation", "relu"});
  const Problem problem(settings);
  Recording recording(2);
  const std::vector<float> first{1.5f, -0.0f, 1e-30f, std::nextafter(1.0f, 2.0f)},
      second{4, 5, 6, 7};
  recording.add({0, problem, std::vector<float>(24), first});
  recording.add({2, problem, std::vector<float>(24), second});
  const PageData page(
      page_data(settings, problem, recording, "05_playground </script><!-- \"\\\n", {0.25f, -3}));
  CHECK(page.texts.at("data") == "circle");
  CHECK(page.texts.at("activation") == "relu");
  CHECK(page.texts.at("command") == "05_playground </script><!-- \"\\\n");
  CHECK(page.features == std::vector<std::string>{"x1^2"});
  CHECK(page.numbers.at("sizes") == std::vector<index_t>{1, 3, 2});
  CHECK(page.numbers.at("epochs") == std::vector<index_t>{0, 2});
  CHECK(page.numbers.at("train") == std::vector<index_t>{6});
  CHECK(unpacked(page.texts.at("points")) == problem.points.samples);
  CHECK(unpacked(page.texts.at("labels")).size() == 12);
  const auto parameters = unpacked(page.texts.at("parameters"));
  REQUIRE(parameters.size() == 8);
  CHECK(std::memcmp(parameters.data(), first.data(), 16) == 0);
  CHECK(std::memcmp(parameters.data() + 4, second.data(), 16) == 0);
  const float half = std::log(2.0f);
  const auto curves = unpacked(page.texts.at("curves"));
  REQUIRE(curves.size() == 8);
  CHECK(curves[0] == doctest::Approx(half));
  CHECK(curves[1] == doctest::Approx(half));
  CHECK(unpacked(page.texts.at("places")) == places_to_compare());
  CHECK(unpacked(page.texts.at("logits")) == std::vector<float>{0.25f, -3});
}

TEST_CASE("nothing in a page ends its scripts but their own ends, and nothing is fetched") {
  const std::string text = page("<title>", script_string("</script><!--<script>"));
  const auto count = [&](std::string_view part) {
    int found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
      ++found;
    return found;
  };
  CHECK(count("<script") == 2);
  CHECK(count("</script>") == 2);
  CHECK(count("<!--") == 0);
  CHECK(count("<title>&lt;title&gt;</title>") == 1);
  for (const char* const outside : {"http:", "https:", "src=", "@import", "fetch(", "url("}) {
    CAPTURE(std::string(outside));
    CHECK(count(outside) == 0);
  }
  CHECK(text.size() < 40'000);
}

TEST_CASE("what a new user tries that makes no training") {
  CHECK(message_of({"--data", "foo"}) ==
        "05_playground: --data 'foo' (want circle|xor|gaussians|spiral)");
  const std::string layers =
      "(want 1 to 8 neurons for each hidden layer, as 4,2; none for no hidden layer)";
  CHECK(message_of({"--layers", "0"}) == "05_playground: --layers 0: '0' " + layers);
  CHECK(message_of({"--layers", "9"}) == "05_playground: --layers 9: '9' " + layers);
  CHECK(message_of({"--layers", "abc"}) == "05_playground: --layers abc: 'abc' " + layers);
  CHECK(message_of({"--layers", "4,,2"}) == "05_playground: --layers 4,,2: '' " + layers);
  CHECK(message_of({"--layers", "1,2,3,4,5,6,7"}) ==
        "05_playground: --layers 1,2,3,4,5,6,7: 7 hidden layers (want 6 or fewer)");
  CHECK(message_of({"--noise", "200"}) == "05_playground: --noise 200 (want 0 to 50)");
  CHECK(message_of({"--train-ratio", "100"}) == "05_playground: --train-ratio 100 (want 10 to 90)");
  CHECK(message_of({"--lr", "0"}) == "05_playground: --lr 0 (want 1e-06 to 10)");
  CHECK(message_of({"--lr", "nan"}) == "05_playground: --lr 'nan' is not a number in range");
  CHECK(message_of({"--lr", "fast"}) == "05_playground: --lr 'fast' is not a number");
  CHECK(message_of({"--l1", "-1"}) == "05_playground: --l1 -1 (want 0 to 10)");
  CHECK(message_of({"--points", "9"}) == "05_playground: --points 9 (want 10 to 100000)");
  CHECK(message_of({"--points", "1000000"}) ==
        "05_playground: --points 1000000 (want 10 to 100000)");
  CHECK(message_of({"--activation", "gelu"}) ==
        "05_playground: --activation 'gelu' (want tanh|relu|sigmoid|linear)");
  CHECK(message_of({"--features", "x3"}) ==
        "05_playground: --features x3: 'x3' is no feature (want some of "
        "x1,x2,x1^2,x2^2,x1x2,sinx1,sinx2)");
  CHECK(message_of({"--features", "x1,x1"}) ==
        "05_playground: --features x1,x1: x1 is there twice (want each once)");
  CHECK(message_of({"--html", ""}) ==
        "05_playground: --html is empty (want the name of a file, as playground.html)");
  CHECK(message_of({"--epochs", "0"}) == "05_playground: --epochs 0 (want 1 or more)");
}

TEST_CASE("a program that ends with an exception says why, in words") {
  const auto ends = [](auto body) {
    Text text;
    std::FILE* const usual = std::exchange(stderr, text.file);
    const int status = examples::exit_status(body);
    stderr = usual;
    CHECK(status == 1);
    return text.get();
  };
  CHECK(ends([] { throw Error("what is wrong"); }) == "error: what is wrong\n");
  CHECK(contains(ends([] { throw std::bad_alloc(); }), "not enough memory"));
}

TEST_CASE("a terminal gets a picture over the one before, all others get lines") {
  const Problem problem(settings_of({"--points", "10", "--seed", "1"}));
  const Moment moment(50, problem, std::vector<float>(20), {});
  const std::string line = "epoch 50/100  loss 0.6931 (test 0.6931)  accuracy ";
  {
    Text text;
    Watch watch(true, 100, problem, text.terminal(false));
    CHECK(!watch.draws());
    watch.print(moment);
    watch.print({51, problem, std::vector<float>(20), {}});
    CHECK(text.get().starts_with(line));
    CHECK(text.get().find('\n') == text.get().size() - 1);
    CHECK(!contains(text.get(), "\x1b"));
  }
  {
    Text text;
    train::Terminal low = text.terminal(true);
    low.rows = [](std::FILE*) {
      return 22;
    };
    CHECK(!Watch(true, 100, problem, low).draws());
    low.rows = [](std::FILE*) {
      return 23;
    };
    CHECK(Watch(true, 100, problem, low).draws());
  }
  for (const bool colors : {true, false}) {
    CAPTURE(colors);
    const NoColor no_color(colors ? "" : "1");
    Text text;
    Watch watch(true, 100, problem, text.terminal(true));
    CHECK(watch.draws());
    std::vector<float> logits(watch.places().size());
    // The middle of the first of 40 pixels from -6 to 6.
    CHECK(watch.places()[0] == doctest::Approx(-5.85));
    CHECK(watch.places()[1] == doctest::Approx(5.85));
    watch.print(moment);
    CHECK(text.get().empty());
    watch.draw(moment, logits);
    const std::string first = text.get();
    CHECK(std::count(first.begin(), first.end(), '\n') == 22);  // fits a terminal of 24 lines
    CHECK(!contains(first, "\x1b[22A"));
    CHECK(contains(first, line.substr(0, 50)));
    CHECK(first.ends_with("\n\x1b[?25h"));
    CHECK(contains(first, "▀") == colors);
    CHECK(contains(first, "38;2;") == colors);
    CHECK(contains(first, "x") != colors);  // a point of the ring
    watch.draw(moment, logits);
    CHECK(text.get().substr(first.size()).starts_with("\x1b[?25l\r\x1b[22A"));
  }
}
