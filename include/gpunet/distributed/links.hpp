// Connections between the processes of a program by which each learns of the end of the others.
// POSIX only.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>

namespace gpunet::distributed::detail {

using SocketClock = std::chrono::steady_clock;

// Waits until one of them has an event, at most until `end`. Returns whether one has.
inline bool poll_until(std::vector<pollfd>& all, SocketClock::time_point end) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - SocketClock::now()).count();
    const int ready = ::poll(all.data(), static_cast<nfds_t>(all.size()),
                             static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

// A socket that does not block and that no child process inherits, closed at its end.
class Socket {
 public:
  // The result of an attempt to read.
  enum class Read { bytes, nothing_yet, end };

  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {
    if (!*this) return;
    fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
    fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
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
  bool wait(short event, SocketClock::time_point end) const {
    std::vector<pollfd> one{{descriptor_, event, 0}};
    return poll_until(one, end);
  }

  // Appends a piece of the bytes that are there to `text`. Does not wait.
  Read read(std::string& text) const {
    char piece[4096];
    for (;;) {
      const auto n = ::recv(descriptor_, piece, sizeof piece, MSG_DONTWAIT);
      if (n > 0) text.append(piece, static_cast<std::size_t>(n));
      if (n > 0) return Read::bytes;
      if (n == 0) return Read::end;
      if (errno != EINTR)
        return errno == EAGAIN || errno == EWOULDBLOCK ? Read::nothing_yet : Read::end;
    }
  }
  // Sends the part of `text` that the connection takes, and removes it. Returns false if the
  // connection has ended. Does not wait.
  bool write(std::string& text) const {
    while (!text.empty()) {
      const auto n = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n >= 0) text.erase(0, static_cast<std::size_t>(n));
      if (n < 0 && errno != EINTR) return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    return true;
  }

  // Lets the connection end if the other machine is gone without a word, after about a minute.
  void keep_alive() const {
    const auto set = [this](int level, int option, int value) {
      ::setsockopt(descriptor_, level, option, &value, sizeof value);
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
    set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
#endif
    set(IPPROTO_TCP, TCP_NODELAY, 1);
  }

 private:
  int descriptor_;
};

// The connections after the meeting: of rank 0 to all others, of each other to rank 0, which passes
// on the lines of each. A process says a line when it leaves or fails; one whose connection ends
// without that has failed. From one thread at a time.
class Links {
 public:
  // Takes a connection. `said`: bytes read from it before.
  void add(index_t rank, Socket socket, std::string said = {}) {
    socket.keep_alive();
    links_.push_back({rank, std::move(socket), std::move(said), {}, false});
  }

  // Returns whether there are some.
  explicit operator bool() const { return !links_.empty(); }

  // Tells all why this process fails, "rank 1 has ..." of another one. Does not wait.
  void tell(const std::string& failure) { say(one_line(failure), -1); }

  // Returns a failure: the line of a process, or the end of one without a word; empty: none. Does
  // not wait.
  std::string news() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      Link& link = links_[i];
      bool is_open = link.socket.write(link.unsent);
      for (auto got = Socket::Read::bytes; got == Socket::Read::bytes;) {
        got = link.socket.read(link.said);
        is_open = is_open && got != Socket::Read::end;
        if (link.said.size() > most_said) break;
      }
      std::string failure;
      for (std::size_t end; failure.empty() && (end = link.said.find('\n')) != std::string::npos;) {
        const std::string line = link.said.substr(0, end);
        link.said.erase(0, end + 1);
        failure = hear(link, line);
      }
      if (failure.empty() && link.said.size() > most_said)
        failure =
            concat("rank ", link.rank,
                   " sends what is no message (another program on its port?), start all again");
      if (failure.empty() && !is_open && !link.has_ended)
        failure = concat("rank ", link.rank,
                         " has ended without a word (it was killed, or has called exit), see its "
                         "messages, and start all again from the last checkpoint");
      if (!is_open || link.said.size() > most_said)
        links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(i--));
      if (!failure.empty()) return failure;
    }
    return "";
  }
  // Returns the first rank that has left without an error, -1: none.
  index_t left() const { return left_; }

  // Says that this process leaves without an error. Rank 0 stays until `end`, to pass on the lines
  // of the others, while there are two of them or more. Returns whether none of them has failed
  // meanwhile.
  bool leave(index_t rank, SocketClock::time_point end) {
    bool is_well = true;
    say(goodbye(rank), -1);
    while (links_.size() > 1 && SocketClock::now() < end) {
      wait(end);
      const std::string failure = news();
      if (!failure.empty()) say(one_line(failure), -1);
      is_well = is_well && failure.empty();
    }
    close(std::chrono::seconds(5));
    return is_well;
  }
  // Tells all why this process fails, and ends the connections.
  void fail(const std::string& failure) {
    tell(failure);
    close(std::chrono::seconds(1));
  }

 private:
  struct Link {
    index_t rank;
    Socket socket;
    std::string said, unsent;  // an incomplete line; bytes that the socket has not taken
    bool has_ended;            // has said that it leaves, or why it fails
  };
  static constexpr std::size_t most_said = 1 << 16;
  static constexpr std::string_view goodbye_of = "goodbye ";

  static std::string goodbye(index_t rank) { return concat(goodbye_of, rank); }
  static std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.substr(0, most_said / 2);
  }

  // Says a line to all but one rank.
  void say(const std::string& line, index_t except) {
    for (Link& link : links_) {
      if (link.rank == except) continue;
      link.unsent += line + "\n";
      static_cast<void>(link.socket.write(link.unsent));
    }
  }
  // Ends the connections so that all lines arrive: one that is closed before it was read to its end
  // takes that back.
  void close(std::chrono::milliseconds most) {
    const SocketClock::time_point end = SocketClock::now() + most;
    bool is_shut = false;
    while (!links_.empty() && SocketClock::now() < end) {
      static_cast<void>(news());
      if (!is_shut &&
          std::ranges::all_of(links_, [](const Link& link) { return link.unsent.empty(); })) {
        for (const Link& link : links_)
          ::shutdown(link.socket.get(), SHUT_WR);
        is_shut = true;
      }
      wait(end);
    }
    links_.clear();
  }
  // Takes a line. Returns the failure in it, or nothing.
  std::string hear(Link& link, const std::string& line) {
    if (line.starts_with(goodbye_of)) {
      index_t rank = link.rank;
      static_cast<void>(
          std::from_chars(line.data() + goodbye_of.size(), line.data() + line.size(), rank));
      if (rank == link.rank) link.has_ended = true;
      if (left_ < 0) left_ = rank;
      say(goodbye(rank), link.rank);
      return "";
    }
    link.has_ended = true;
    return line.starts_with("rank ") ? line : concat("rank ", link.rank, " has failed: ", line);
  }
  // Waits until something is to be read or can be sent.
  void wait(SocketClock::time_point end) const {
    std::vector<pollfd> all;
    for (const Link& link : links_)
      all.push_back({link.socket.get(),
                     static_cast<short>(link.unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    if (!all.empty()) poll_until(all, end);
  }

  std::vector<Link> links_;
  index_t left_ = -1;
};

}  // namespace gpunet::distributed::detail
