// How the processes of a program that torchrun started find each other: a text of rank 0 goes to all, by TCP or by a file. POSIX only.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/launch.hpp>
#include <gpunet/distributed/engine.hpp>

namespace gpunet::distributed::detail {

// A socket that does not block, closed at its end.
class Socket {
  using Clock = std::chrono::steady_clock;

 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {
    if (*this) fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket() {
    if (*this) ::close(descriptor_);
  }
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  // Waits until it can be read (POLLIN) or written (POLLOUT). Returns whether it can be in time.
  bool wait(short event, Clock::time_point end) const {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd one{descriptor_, event, 0};
      const int ready = ::poll(&one, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
      if (ready >= 0 || errno != EINTR) return ready > 0;
    }
  }
  // Sends and receives a text, after its length. Returns whether that was possible in time.
  bool send(const std::string& text, Clock::time_point end) const {
    const auto size = static_cast<std::uint32_t>(text.size());
    std::string all(reinterpret_cast<const char*>(&size), sizeof size);
    all += text;
    return transfer(POLLOUT, all.data(), all.size(), end,
                    [this](char* at, std::size_t n) { return ::send(descriptor_, at, n, MSG_NOSIGNAL); });
  }
  bool receive(std::string& text, Clock::time_point end) const {
    const auto read = [this](char* at, std::size_t n) {
      return ::recv(descriptor_, at, n, 0);
    };
    std::uint32_t size = 0;
    if (!transfer(POLLIN, reinterpret_cast<char*>(&size), sizeof size, end, read) || size > 1 << 20) return false;
    text.resize(size);
    return transfer(POLLIN, text.data(), size, end, read);
  }

 private:
  template <class Call>
  bool transfer(short event, char* data, std::size_t size, Clock::time_point end, Call call) const {
    while (size > 0) {
      if (!wait(event, end)) return false;
      const auto n = call(data, size);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (n < 0) continue;
      data += n;
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }

  int descriptor_;
};

// The connections after the meeting: of rank 0 to all others, of each other to rank 0. They tell what has become of a process.
class Links {
 public:
  // What a process says that leaves without an error.
  static constexpr const char* goodbye = "goodbye";

  void add(index_t rank, Socket socket) { links_.push_back({rank, std::move(socket), {}}); }

  // Says something to all, a line.
  void tell(const std::string& text) {
    const std::string line = text + "\n";
    for (const Link& link : links_)
      static_cast<void>(::send(link.socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  // Returns what one has said that fails, or that it has ended without a word; empty: nothing. Does not wait.
  std::string news() {
    for (Link& link : links_) {
      char text[512];
      const auto n = ::recv(link.socket.get(), text, sizeof text, MSG_DONTWAIT);
      if (n > 0) link.said.append(text, static_cast<std::size_t>(n));
      const std::string line = link.said.substr(0, link.said.find('\n'));
      const bool says = line.size() < link.said.size();
      if (says && line == goodbye) {
        left_ = link.rank;
        std::swap(link, links_.back());
        links_.pop_back();
        return "";
      }
      if (says) return line.starts_with("rank ") ? line : concat("rank ", link.rank, " has failed: ", line);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        return concat(
            "rank ", link.rank,
            " has ended without a word (it was killed, or has called exit), see its messages, and start all "
            "again from the last checkpoint");
    }
    return "";
  }
  // Returns a rank that has said goodbye, -1: none.
  index_t left() const { return left_; }

 private:
  struct Link {
    index_t rank;
    Socket socket;
    std::string said;  // since the last line
  };
  std::vector<Link> links_;
  index_t left_ = -1;
};

// The meeting of the processes of a launch.
class Rendezvous {
  using Clock = std::chrono::steady_clock;
  static constexpr std::string_view where = "gpunet::distributed::Communicator: ";

 public:
  Rendezvous(const Launch& launch, const CommunicatorOptions& options)
      : launch_(launch), options_(options), end_(Clock::now() + options.timeout) {}

  // Returns rank 0's text on all ranks, and the connections, none of init_method file://. Throws Error if they do not come in time, or the address is wrong or absent.
  std::pair<std::string, Links> share(const std::string& text) {
    const std::string_view method = options_.init_method, file = "file://";
    if (method.starts_with(file)) return {by_file(std::string(method.substr(file.size())), text), Links()};
    require(method == "env://", where, "init_method \"", method,
            "\" (want env://, or file:// and a path that all processes have), leave it out for env://");
    read_environment();
    std::string all = launch_.rank == 0 ? serve(text) : fetch();
    return {std::move(all), std::move(links_)};
  }

 private:
  void read_environment() {
    const char* const address = std::getenv("MASTER_ADDR");
    const char* const port = std::getenv("MASTER_PORT");
    require(address && *address && port, where, "rank ", launch_.rank, " of ", launch_.world_size, " has no ",
            address && *address ? "MASTER_PORT" : "MASTER_ADDR",
            " in its environment (where rank 0 listens for the others), start the program with torchrun, or set "
            "MASTER_ADDR and MASTER_PORT on all ranks");
    const std::string_view digits = port;
    const auto [after, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port_);
    require(problem == std::errc() && after == digits.data() + digits.size() && port_ > 0 && port_ < 65535, where,
            "MASTER_PORT is \"", digits,
            "\" (want the number of a free port of rank 0's machine, 1 to 65534), such as 29500");
    // torchrun's agent listens there itself.
    const char* const agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
    if (agent && std::string_view(agent) == "True") ++port_;
    address_ = address;
  }
  std::string place() const { return concat("MASTER_ADDR ", address_, ", port ", port_); }
  std::string hello(index_t rank) const { return concat("gpunet ", rank, " of ", launch_.world_size); }

  // Rank 0: sends the text when all are there.
  std::string serve(const std::string& text) {
    Socket listener(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool has_six = bool(listener);
    if (!has_six) listener = Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1, off = 0;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in6 six{};
    sockaddr_in four{};
    if (has_six) ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    six.sin6_family = AF_INET6;
    four.sin_family = AF_INET;
    six.sin6_port = four.sin_port = htons(static_cast<std::uint16_t>(port_));
    const auto bind = [&] {
      return has_six ? ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&six), sizeof six)
                     : ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&four), sizeof four);
    };
    const bool listens = bind() == 0 && ::listen(listener.get(), 128) == 0;
    require(listens, where, "rank 0 cannot listen on port ", port_, ": ", std::strerror(errno),
            ", set another MASTER_PORT on all ranks");
    std::vector<Socket> others(static_cast<std::size_t>(launch_.world_size));
    for (index_t there = 1; there < launch_.world_size;) {
      require(listener.wait(POLLIN, end_), where, "rank ", missing(others), " of ", launch_.world_size,
              " has not come to rank 0 (", place(), ") within ", seconds(),
              " s, see its messages, and whether its MASTER_ADDR and MASTER_PORT are the same");
      Socket guest(::accept(listener.get(), nullptr, nullptr));
      std::string text_of;
      if (!guest || !guest.receive(text_of, std::min(end_, Clock::now() + std::chrono::seconds(5)))) continue;
      for (index_t r = 1; r < launch_.world_size; ++r)
        if (Socket& place_of = others[static_cast<std::size_t>(r)]; text_of == hello(r)) {
          there += !place_of;  // one that comes again has lost its connection
          place_of = std::move(guest);
          break;
        }
      if (guest) guest.send(concat("refused: rank 0 is one of ", launch_.world_size, " processes"), Clock::now());
    }
    for (index_t r = 1; r < launch_.world_size; ++r) {
      Socket& other = others[static_cast<std::size_t>(r)];
      require(other.send("welcome " + text, end_), where, "rank ", r,
              " has left before it met the others, see its messages");
      links_.add(r, std::move(other));
    }
    return text;
  }

  // Another rank: asks until rank 0 is there.
  std::string fetch() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int problem = ::getaddrinfo(address_.c_str(), std::to_string(port_).c_str(), &hints, &found);
    require(problem == 0, where, "MASTER_ADDR is \"", address_, "\": ", gai_strerror(problem),
            ", set it to the name or address of rank 0's machine");
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    for (int last = 0;;) {
      for (const addrinfo* at = found; at; at = at->ai_next) {
        std::string answer;
        Socket socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
        if (ask(*at, socket, answer, last)) {
          const std::string_view welcome = "welcome ";
          require(answer.starts_with(welcome), where, "rank ", launch_.rank, " of ", launch_.world_size,
                  " was sent away by ", place(), ": ", answer, " (another program?), set another MASTER_PORT");
          links_.add(0, std::move(socket));
          return answer.substr(welcome.size());
        }
      }
      require(Clock::now() < end_, where, "rank ", launch_.rank, " of ", launch_.world_size,
              " does not reach rank 0 (", place(), ") within ", seconds(), " s: ", std::strerror(last),
              ", see the messages of rank 0, and whether MASTER_ADDR and MASTER_PORT are those of its machine");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  bool ask(const addrinfo& at, const Socket& socket, std::string& answer, int& last) const {
    const auto failed = [&](int problem) {
      last = problem;
      return false;
    };
    if (!socket) return failed(errno);
    if (::connect(socket.get(), at.ai_addr, at.ai_addrlen) != 0) {
      if (errno != EINPROGRESS) return failed(errno);
      if (!socket.wait(POLLOUT, end_)) return failed(ETIMEDOUT);
      int problem = 0;
      socklen_t size = sizeof problem;
      ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
      if (problem != 0) return failed(problem);
    }
    return (socket.send(hello(launch_.rank), end_) && socket.receive(answer, end_)) || failed(ECONNRESET);
  }

  // By a file that rank 0 writes as a whole; the others say beside it that they have read it, and rank 0 removes all.
  std::string by_file(const std::string& path, const std::string& text) {
    const auto exists = [](const std::string& name) {
      std::error_code ignored;
      return std::filesystem::exists(name, ignored);
    };
    const auto wait_for = [&](const std::string& name, const auto& who) {
      while (!exists(name)) {
        require(Clock::now() < end_, where, "rank ", who, " has not come to ", options_.init_method, " within ",
                seconds(), " s, see its messages, and whether all ranks have this folder");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    };
    const auto mark_of = [&](index_t rank) {
      return concat(path, ".", rank);
    };
    const auto write = [&](const std::string& name, const std::string& what) {
      const std::string temporary = concat(name, ".tmp", launch_.rank);
      std::ofstream file(temporary, std::ios::binary);
      file << what;
      file.close();
      const bool written = file.good() && std::rename(temporary.c_str(), name.c_str()) == 0;
      require(written, where, "rank ", launch_.rank, " cannot write ", name, ": ", std::strerror(errno),
              ", give a path in a folder that all ranks can write to");
    };
    if (launch_.rank > 0) {
      wait_for(path, 0);
      std::ostringstream all;
      all << std::ifstream(path, std::ios::binary).rdbuf();
      write(mark_of(launch_.rank), "");
      return all.str();
    }
    require(!exists(path), where, "the file of ", options_.init_method,
            " is there already (of another training, or of one that has failed), remove it, or give another path");
    write(path, text);
    for (index_t r = 1; r < launch_.world_size; ++r)
      wait_for(mark_of(r), r);
    for (index_t r = 1; r < launch_.world_size; ++r)
      std::remove(mark_of(r).c_str());
    std::remove(path.c_str());
    return text;
  }

  std::string missing(const std::vector<Socket>& others) const {
    std::string ranks;
    for (std::size_t r = 1; r < others.size(); ++r)
      if (!others[r]) ranks += concat(ranks.empty() ? "" : ", ", r);
    return ranks;
  }
  double seconds() const { return std::chrono::duration<double>(options_.timeout).count(); }

  const Launch& launch_;
  const CommunicatorOptions& options_;
  Clock::time_point end_;
  std::string address_;
  int port_ = 0;
  Links links_;
};

}  // namespace gpunet::distributed::detail
