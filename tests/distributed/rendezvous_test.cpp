#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

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

// Lets ranks 0, ... of a world of `size` meet, each in a thread.
std::vector<Met> meet(int size, const std::vector<int>& ranks, const distributed::CommunicatorOptions& options) {
  std::vector<Met> met(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] {
      const Launch launch{.rank = ranks[i], .world_size = size};
      met[i].error = error_of([&] {
        auto [text, links] = Rendezvous(launch, options).share("text of " + std::to_string(ranks[i]));
        met[i].text = text;
        met[i].links = std::move(links);
      });
    });
  for (std::thread& thread : threads)
    thread.join();
  return met;
}

// Returns the first news of some connections within 5 seconds.
std::string news_of(Links& links) {
  std::string news;
  for (int i = 0; i < 500 && news.empty() && links.left() < 0; ++i) {
    news = links.news();
    if (news.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return news;
}

}  // namespace

TEST_CASE("processes meet at MASTER_ADDR and MASTER_PORT, and hear what becomes of the others") {
  if (!world().is_main()) return;  // all ranks are threads of one process
  const Variable address("MASTER_ADDR", "127.0.0.1"), port("MASTER_PORT", free_port().c_str());
  const Variable agent("TORCHELASTIC_USE_AGENT_STORE", nullptr);
  for (const bool has_agent : {false, true}) {
    if (has_agent) agent.set("True");
    std::vector<Met> met = meet(4, {2, 0, 1, 3}, {.timeout = std::chrono::seconds(20)});
    for (const Met& one : met) {
      CHECK(one.error == "");
      CHECK(one.text == "text of 0");
    }
    Links &two = met[0].links, &zero = met[1].links, &one = met[2].links, &three = met[3].links;
    CHECK(zero.news() == "");
    two.tell(Links::goodbye);
    CHECK(news_of(zero) == "");
    CHECK(zero.left() == 2);
    if (has_agent) {
      one.tell("it has ended with an error of its own");
    } else {
      one = Links();  // its process is gone
    }
    std::string news;
    for (int i = 0; i < 500 && news.empty(); ++i) {
      news = zero.news();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(contains(news, has_agent ? "rank 1 has failed: it has ended with an error of its own"
                                   : "rank 1 has ended without a word"));
    zero.tell(news);
    CHECK(contains(news_of(three), "rank 1 has "));
  }
}

TEST_CASE("processes meet by a file, which is gone afterwards") {
  if (!world().is_main()) return;  // all ranks are threads of one process
  const TempFolder folder;
  const std::string path = folder / "meeting";
  const distributed::CommunicatorOptions options{.timeout = std::chrono::seconds(20),
                                                 .init_method = "file://" + path};
  for (const Met& one : meet(3, {0, 1, 2}, options)) {
    CHECK(one.error == "");
    CHECK(one.text == "text of 0");
  }
  CHECK(!std::filesystem::exists(path));
  std::ofstream(path) << "old";
  CHECK(contains(meet(2, {0}, options)[0].error, "is there already"));
}

TEST_CASE("a meeting that does not come about is an error that says why") {
  if (!world().is_main()) return;  // all ranks are threads of one process
  const Variable address("MASTER_ADDR", nullptr), port("MASTER_PORT", free_port().c_str());
  const distributed::CommunicatorOptions soon{.timeout = std::chrono::milliseconds(300)};
  CHECK(contains(meet(2, {1}, soon)[0].error, "rank 1 of 2 has no MASTER_ADDR in its environment"));
  address.set("no such name");
  CHECK(contains(meet(2, {1}, soon)[0].error, "MASTER_ADDR is \"no such name\": "));
  address.set("127.0.0.1");
  CHECK(contains(meet(2, {1}, soon)[0].error, "rank 1 of 2 does not reach rank 0 (MASTER_ADDR 127.0.0.1, port "));
  CHECK(contains(meet(4, {0, 2}, soon)[0].error, "rank 1, 3 of 4 has not come to rank 0"));
  port.set("70000");
  CHECK(contains(meet(2, {1}, soon)[0].error, "MASTER_PORT is \"70000\""));
  port.set(nullptr);
  CHECK(contains(meet(2, {0}, soon)[0].error, "has no MASTER_PORT in its environment"));
  CHECK(contains(meet(2, {0}, {.init_method = "tcp://a"})[0].error, "init_method \"tcp://a\" (want env://"));
}
