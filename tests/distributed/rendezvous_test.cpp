#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <netdb.h>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/distributed/rendezvous.hpp>

#include "distributed/world.hpp"
#include "io/temp_folder.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using distributed::detail::Links;
using distributed::detail::Rendezvous;

namespace {

// An environment variable for the time of a test; null: none.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    world();  // has read what is there
    if (const char* const before = std::getenv(name)) before_ = before, was_there_ = true;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(was_there_ ? before_.c_str() : nullptr); }
  void set(const char* value) const { value ? setenv(name_, value, 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string before_;
  bool was_there_ = false;
};

// Returns a port on which nothing listens.
std::string free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&any), size) == 0);
  REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&any), &size) == 0);
  ::close(socket);
  return std::to_string(std::min<int>(ntohs(any.sin_port), 65533));
}

// What a rank has got, or its error.
struct Met {
  std::string text, error;
  Links links;
};

// Lets ranks of a world of `size` meet, each in a thread.
std::vector<Met> meet(int size, const std::vector<int>& ranks,
                      const distributed::CommunicatorOptions& options,
                      Rendezvous::Resolve resolve = &::getaddrinfo) {
  std::vector<Met> met(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] {
      const Launch launch{.rank = ranks[i], .world_size = size};
      met[i].error = error_of([&] {
        auto [text, links] =
            Rendezvous(launch, options, resolve).share("text of " + std::to_string(ranks[i]));
        met[i].text = text;
        met[i].links = std::move(links);
      });
    });
  for (std::thread& thread : threads)
    thread.join();
  return met;
}

// Some of the ranks, which wait for those that come later.
class Waiting {
 public:
  Waiting(int size, const std::vector<int>& ranks, const distributed::CommunicatorOptions& options)
      : thread_([=, this] { met_ = meet(size, ranks, options); }) {}
  ~Waiting() { met(); }
  std::vector<Met>& met() {
    if (thread_.joinable()) thread_.join();
    return met_;
  }

 private:
  std::vector<Met> met_;
  std::thread thread_;
};

// Another program's connection to a port of this machine, on which somebody will listen.
class Stranger {
 public:
  explicit Stranger(const std::string& port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
    for (int i = 0; i < 500; ++i) {
      socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
      if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        return;
      ::close(socket_);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL("nobody listens on port ", port);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  ~Stranger() { ::close(socket_); }
  void say(const std::string& text) const {
    CHECK(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == std::ssize(text));
  }
  // Says a message of the meeting.
  void say_message(const std::string& text) const {
    say(std::string(3, '\0') + static_cast<char>(text.size()) + text);
  }
  // Returns all that it hears until the end of the connection.
  std::string hear() const {
    std::string all;
    char piece[256];
    for (ssize_t n; (n = ::recv(socket_, piece, sizeof piece, 0)) > 0;)
      all.append(piece, static_cast<std::size_t>(n));
    return all;
  }

 private:
  int socket_ = -1;
};

// Returns the first news of some connections within 5 seconds, or "" once a rank has left.
std::string news_of(Links& links) {
  std::string news;
  for (int i = 0; i < 500 && news.empty() && links.left() < 0; ++i) {
    news = links.news();
    if (news.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return news;
}

std::chrono::steady_clock::time_point in_seconds(int n) {
  return std::chrono::steady_clock::now() + std::chrono::seconds(n);
}

const distributed::CommunicatorOptions patient{.timeout = std::chrono::seconds(20)};
const distributed::CommunicatorOptions soon{.timeout = std::chrono::milliseconds(300)};

// The variables of a meeting on a free port of this machine.
struct Meeting {
  std::string number = free_port();
  Variable address{"MASTER_ADDR", "127.0.0.1"}, port{"MASTER_PORT", number.c_str()};
  Variable agent{"TORCHELASTIC_USE_AGENT_STORE", nullptr};
};

}  // namespace

TEST_CASE("processes meet at MASTER_ADDR and MASTER_PORT, and hear what becomes of the others") {
  if (!world().is_main()) return;  // all ranks are threads of one process
  const Meeting meeting;
  for (const bool has_agent : {false, true}) {
    if (has_agent) meeting.agent.set("True");
    std::vector<Met> met = meet(4, {2, 0, 1, 3}, patient);
    for (const Met& one : met) {
      CHECK(one.error == "");
      CHECK(one.text == "text of 0");
    }
    Links &zero = met[1].links, &one = met[2].links, &three = met[3].links;
    CHECK(zero.news() == "");
    if (has_agent) {
      one.tell("it has ended with an error of its own");
    } else {
      one = Links();  // its process is gone
    }
    const std::string news = news_of(zero);
    CHECK(contains(news, has_agent ? "rank 1 has failed: it has ended with an error of its own"
                                   : "rank 1 has ended without a word"));
    zero.tell(news);
    CHECK(contains(news_of(three), "rank 1 has "));
  }
}

TEST_CASE("rank 0 passes on that a rank leaves") {
  if (!world().is_main()) return;
  const Meeting meeting;
  std::vector<Met> met = meet(4, {0, 1, 2, 3}, patient);
  Links &zero = met[0].links, &one = met[1].links, &two = met[2].links, &three = met[3].links;
  std::thread leaves([&] { CHECK(one.leave(1, in_seconds(5))); });
  for (Links* links : {&zero, &two, &three}) {
    CHECK(news_of(*links) == "");
    CHECK(links->left() == 1);
  }
  leaves.join();
  CHECK(zero.news() == "");  // its connection is at its end, in order
}

TEST_CASE("rank 0 that has left still passes on what the others say") {
  if (!world().is_main()) return;
  const Meeting meeting;
  std::vector<Met> met = meet(5, {0, 1, 2, 3, 4}, patient);
  Links &zero = met[0].links, &one = met[1].links, &two = met[2].links, &three = met[3].links,
        &four = met[4].links;
  bool is_well = true;
  std::thread leaves([&] { is_well = zero.leave(0, in_seconds(20)); });
  for (Links* links : {&one, &two, &three, &four}) {
    CHECK(news_of(*links) == "");
    CHECK(links->left() == 0);
  }
  CHECK(four.leave(4, in_seconds(5)));
  CHECK(two.news() == "");
  one = Links();  // its process is gone
  for (Links* links : {&two, &three}) {
    std::string news;
    for (int i = 0; i < 500 && news.empty(); ++i) {
      news = links->news();
      if (news.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(contains(news, "rank 1 has ended without a word"));
  }
  two.fail("it has no disk");
  three.leave(3, in_seconds(5));
  leaves.join();
  CHECK(!is_well);
}

TEST_CASE("a program that a process has started does not keep its connections open") {
  if (!world().is_main()) return;
  const Meeting meeting;
  std::vector<Met> met = meet(2, {0, 1}, patient);
  FILE* const child = popen("cat >/dev/null", "w");  // runs until pclose
  REQUIRE(child != nullptr);
  met[1].links = Links();  // its process is gone
  CHECK(contains(news_of(met[0].links), "rank 1 has ended without a word"));
  CHECK(pclose(child) == 0);
}

TEST_CASE("long news arrive whole, also where a process reads them later") {
  if (!world().is_main()) return;
  const Meeting meeting;
  std::vector<Met> met = meet(2, {0, 1}, patient);
  Links &zero = met[0].links, &one = met[1].links;
  const std::string line(30000, 'x');
  const int lines = 400;  // more than what sockets hold
  for (int i = 0; i < lines; ++i)
    one.tell(line + "\nand " + std::to_string(i));
  int whole = 0;
  for (const auto end = in_seconds(20); whole < lines && std::chrono::steady_clock::now() < end;) {
    static_cast<void>(one.news());  // sends what is left
    whole += zero.news() == "rank 1 has failed: " + line + " and " + std::to_string(whole);
  }
  CHECK(whole == lines);
}

TEST_CASE("strangers do not hold up a meeting") {
  if (!world().is_main()) return;
  const Meeting meeting;
  Waiting zero(3, {0}, patient);
  const Stranger silent(meeting.number), half(meeting.number), web(meeting.number),
      other(meeting.number);
  half.say(std::string(2, '\0'));
  web.say("GET / HTTP/1.1\r\n\r\n");
  other.say_message("gpunet 1 of 7");
  CHECK(web.hear() == "");
  CHECK(contains(other.hear(), "refused: rank 0 is one of 3 processes"));
  {
    const Stranger gone(meeting.number);  // a rank that ends before the meeting does
    gone.say_message("gpunet 2 of 3");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const auto start = std::chrono::steady_clock::now();
  for (const Met& one : meet(3, {1, 2}, patient)) {
    CHECK(one.error == "");
    CHECK(one.text == "text of 0");
  }
  CHECK(zero.met()[0].error == "");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
}

TEST_CASE("rank 0 without a free file descriptor waits for one, and does not spin") {
  if (!world().is_main()) return;
  const Meeting meeting;
  Waiting zero(2, {0}, patient);
  const Stranger first(meeting.number);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int second = ::socket(AF_INET, SOCK_STREAM, 0), free = ::dup(second);
  ::close(free);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{static_cast<rlim_t>(free), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(meeting.number)));
  const int connected =
      ::connect(second, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const std::clock_t start = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::clock_t used = std::clock() - start;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(connected == 0);
  CHECK(static_cast<double>(used) / CLOCKS_PER_SEC < 0.1);
  CHECK(meet(2, {1}, patient)[0].error == "");
  CHECK(zero.met()[0].error == "");
  ::close(second);
}

TEST_CASE("two processes with one rank: the second is sent away") {
  if (!world().is_main()) return;
  const Meeting meeting;
  Waiting zero(3, {0}, patient);
  {
    const Stranger first(meeting.number);
    first.say_message("gpunet 1 of 3");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::string error = meet(3, {1}, patient)[0].error;
    CHECK(contains(error, "rank 1 of 3 was sent away by MASTER_ADDR 127.0.0.1, port "));
    CHECK(contains(error, ": rank 1 is there already"));
  }
  for (const Met& one : meet(3, {1, 2}, patient))
    CHECK(one.error == "");
  CHECK(zero.met()[0].error == "");
}

TEST_CASE("the name of rank 0's machine may be known later than the meeting begins") {
  if (!world().is_main()) return;
  const Meeting meeting;
  meeting.address.set("rank-0");
  static std::atomic<int> questions;
  questions = 0;
  const Rendezvous::Resolve late = [](const char*, const char* service, const addrinfo* hints,
                                      addrinfo** found) {
    const int n = ++questions;
    return n < 3   ? EAI_NONAME
           : n < 5 ? EAI_AGAIN
                   : ::getaddrinfo("127.0.0.1", service, hints, found);
  };
  for (const Met& one : meet(2, {0, 1}, patient, late)) {
    CHECK(one.error == "");
    CHECK(one.text == "text of 0");
  }
  CHECK(questions >= 5);
  const Rendezvous::Resolve never = [](const char*, const char*, const addrinfo*, addrinfo**) {
    return EAI_FAIL;
  };
  CHECK(contains(
      meet(2, {1}, patient, never)[0].error,
      concat("MASTER_ADDR is \"rank-0\": ", gai_strerror(EAI_FAIL), ", set it to the name")));
}

TEST_CASE("localhost is 127.0.0.1 on a system that does not know the name") {
  if (!world().is_main()) return;
  const Meeting meeting;
  meeting.address.set("localhost");
  const Rendezvous::Resolve numbers_only = [](const char* name, const char* service,
                                              const addrinfo* hints, addrinfo** found) {
    return std::string_view(name) == "localhost" ? EAI_AGAIN
                                                 : ::getaddrinfo(name, service, hints, found);
  };
  for (const Met& one : meet(2, {0, 1}, soon, numbers_only)) {
    CHECK(one.error == "");
    CHECK(one.text == "text of 0");
  }
}

TEST_CASE("processes meet by a file, which is gone afterwards") {
  if (!world().is_main()) return;  // all ranks are threads of one process
  const TempFolder folder;
  const std::string path = folder / "meeting";
  const auto by_file = [&](distributed::CommunicatorOptions options) {
    options.init_method = "file://" + path;
    return options;
  };
  const auto check_empty = [&] {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
      CHECK(entry.path().string() == "");
  };
  for (const Met& one : meet(3, {0, 1, 2}, by_file(patient))) {
    CHECK(one.error == "");
    CHECK(one.text == "text of 0");
  }
  check_empty();
  // What an earlier meeting has left does not matter.
  for (const char* left : {"", "here 1-2-3-4", "read 1-2-3-4"}) {
    for (const char* mark : {".1", ".2", ".1.tmp", ".tmp"})
      std::ofstream(path + mark) << left;
    Waiting zero(3, {0}, by_file(patient));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (const Met& one : meet(3, {1, 2}, by_file(patient))) {
      CHECK(one.error == "");
      CHECK(one.text == "text of 0");
    }
    CHECK(zero.met()[0].error == "");
    check_empty();
  }
  CHECK(contains(meet(3, {0, 2}, by_file(soon))[0].error, "rank 1 has not come to file://"));
  check_empty();
  // Its file does: it may be that of another training. Nobody reads it.
  std::ofstream(path) << "1-2-3-4\n5-6-7-8\nold";
  CHECK(contains(meet(2, {0}, by_file(patient))[0].error, "is there already"));
  CHECK(contains(meet(2, {1}, by_file(soon))[0].error, "rank 0 has not come to file://"));
  std::filesystem::remove(path);
  check_empty();
  CHECK(contains(meet(2, {0}, {.init_method = "file:///no/such/folder"})[0].error,
                 "cannot write /no/such/folder: "));
}

TEST_CASE("a meeting that does not come about is an error that says why") {
  if (!world().is_main()) return;  // all ranks are threads of one process
  const Variable address("MASTER_ADDR", nullptr), port("MASTER_PORT", free_port().c_str());
  CHECK(contains(meet(2, {1}, soon)[0].error, "rank 1 of 2 has no MASTER_ADDR in its environment"));
  address.set("no such name");
  const auto start = std::chrono::steady_clock::now();
  CHECK(contains(meet(2, {1}, soon)[0].error, "MASTER_ADDR is \"no such name\": "));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  address.set("127.0.0.1");
  CHECK(contains(meet(2, {1}, soon)[0].error,
                 "rank 1 of 2 does not reach rank 0 (MASTER_ADDR 127.0.0.1, port "));
  CHECK(contains(meet(4, {0, 2}, soon)[0].error, "rank 1, 3 of 4 has not come to rank 0"));
  {
    Waiting two(4, {2}, {.timeout = std::chrono::seconds(20)});  // rank 0 tells it
    CHECK(contains(meet(4, {0}, {.timeout = std::chrono::seconds(1)})[0].error,
                   "rank 1, 3 of 4 has not come"));
    CHECK(contains(two.met()[0].error, "rank 1, 3 of 4 has not come to rank 0"));
  }
  port.set("70000");
  CHECK(contains(meet(2, {1}, soon)[0].error, "MASTER_PORT is \"70000\""));
  port.set(nullptr);
  CHECK(contains(meet(2, {0}, soon)[0].error, "has no MASTER_PORT in its environment"));
  CHECK(contains(meet(2, {0}, {.init_method = "tcp://a"})[0].error,
                 "init_method \"tcp://a\" (want env://"));
}

TEST_CASE("an init_method is env:// or a file") {
  for (const char* method : {"env://", "file:///path", "file://path"})
    CHECK(error_of([&] { distributed::require_init_method({.init_method = method}); }) == "");
  for (const char* method : {"", "rubbish", "env", "env://x", "tcp://a:1", "file://", "/path"})
    CHECK(contains(
        error_of([&] { distributed::require_init_method({.init_method = method}); }),
        concat("gpunet::distributed::Communicator: init_method \"", method, "\" (want env://")));
}
