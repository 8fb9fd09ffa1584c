// How the processes of a program that torchrun started find each other: a text of rank 0 goes to
// all, by TCP or by a file. POSIX only.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <random>
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
#include <gpunet/distributed/links.hpp>

namespace gpunet::distributed::detail {

// The meeting of the processes of a launch.
class Rendezvous {
  using Clock = SocketClock;
  static constexpr std::string_view where = "gpunet::distributed::Communicator: ";

 public:
  // `resolve` finds the addresses of a name.
  using Resolve = decltype(&::getaddrinfo);
  Rendezvous(const Launch& launch, const CommunicatorOptions& options,
             Resolve resolve = &::getaddrinfo)
      : launch_(launch),
        options_(options),
        resolve_(resolve),
        end_(Clock::now() + options.timeout) {}

  // Returns rank 0's text on all ranks, and the connections, none of init_method file://. Throws
  // Error if they do not come in time, or the address is wrong or absent.
  std::pair<std::string, Links> share(const std::string& text) {
    require_init_method(options_);
    if (const std::string_view method = options_.init_method, file = "file://";
        method.starts_with(file))
      return {by_file(std::string(method.substr(file.size())), text), Links()};
    read_environment();
    std::string all = launch_.rank == 0 ? serve(text) : fetch();
    return {std::move(all), std::move(links_)};
  }

 private:
  void read_environment() {
    const char* const address = std::getenv("MASTER_ADDR");
    const char* const port = std::getenv("MASTER_PORT");
    require(address && *address && port, where, "rank ", launch_.rank, " of ", launch_.world_size,
            " has no ", address && *address ? "MASTER_PORT" : "MASTER_ADDR",
            " in its environment (where rank 0 listens for the others), start the program with "
            "torchrun, or set MASTER_ADDR and MASTER_PORT on all ranks");
    const std::string_view digits = port;
    const auto [after, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), port_);
    require(problem == std::errc() && after == digits.data() + digits.size() && port_ > 0 &&
                port_ < 65535,
            where, "MASTER_PORT is \"", digits,
            "\" (want the number of a free port of rank 0's machine, 1 to 65534), such as 29500");
    // torchrun's agent listens there itself.
    const char* const agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
    if (agent && std::string_view(agent) == "True") ++port_;
    address_ = address;
  }
  std::string place() const { return concat("MASTER_ADDR ", address_, ", port ", port_); }
  std::string hello(index_t rank) const {
    return concat("gpunet ", rank, " of ", launch_.world_size);
  }

  // Messages of the meeting: their size in 4 bytes, the first the highest, then the text.
  static constexpr std::string_view welcome = "welcome ",
                                    refused = "refused: ", failed = "failed: ";
  static std::string message(std::string_view text) {
    std::string all;
    for (const int shift : {24, 16, 8, 0})
      all += static_cast<char>(text.size() >> shift & 0xff);
    return all += text;
  }
  enum class Taken { message, not_yet, other_program };
  // Takes a message from the front of the bytes that have come.
  static Taken take(std::string& come, std::string& text) {
    if (come.size() < 4) return Taken::not_yet;
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
      size = size << 8 | static_cast<unsigned char>(come[i]);
    if (size > 1 << 20) return Taken::other_program;
    if (come.size() < 4 + size) return Taken::not_yet;
    text = come.substr(4, size);
    come.erase(0, 4 + size);
    return Taken::message;
  }
  // Sends a message. Returns whether that was possible in time.
  static bool send(const Socket& socket, std::string_view text, Clock::time_point end) {
    std::string all = message(text);
    while (socket.write(all) && !all.empty())
      if (!socket.wait(POLLOUT, end)) return false;
    return all.empty();
  }

  // Who is connected to rank 0.
  struct Guest {
    Socket socket;
    std::string come;  // its bytes so far
    index_t rank = 0;  // 0: it has not said who it is
  };
  static bool is_rank(const Guest& guest) { return guest.rank > 0; }

  Socket listen() const {
    const int on = 1, off = 0;
    const auto listens = [&](const Socket& socket, const auto& address) {
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      return socket &&
             ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                 0 &&
             ::listen(socket.get(), SOMAXCONN) == 0;
    };
    sockaddr_in6 six{};
    sockaddr_in four{};
    six.sin6_family = AF_INET6;
    four.sin_family = AF_INET;
    six.sin6_port = four.sin_port = htons(static_cast<std::uint16_t>(port_));
    Socket listener(::socket(AF_INET6, SOCK_STREAM, 0));
    ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (listens(listener, six)) return listener;
    if (errno != EADDRINUSE) {  // a machine without IPv6
      listener = Socket(::socket(AF_INET, SOCK_STREAM, 0));
      if (listens(listener, four)) return listener;
    }
    throw_error(Error(concat(where, "rank 0 cannot listen on port ", port_, ": ",
                             std::strerror(errno), ", set another MASTER_PORT on all ranks")));
  }

  // Rank 0: sends the text when all are there.
  std::string serve(const std::string& text) {
    const Socket listener = listen();
    std::vector<Guest> guests;
    const auto meet = [&] {
      for (int problem = 0; std::ranges::count_if(guests, is_rank) + 1 < launch_.world_size;) {
        require(Clock::now() < end_, where, "rank ", missing(guests), " of ", launch_.world_size,
                " has not come to rank 0 (", place(), ") within ", seconds(), " s",
                problem ? concat(" (", std::strerror(problem), ")") : "",
                ", see its messages, and whether its MASTER_ADDR and MASTER_PORT are the same");
        std::vector<pollfd> all{{listener.get(), POLLIN, 0}};
        for (const Guest& guest : guests)
          all.push_back({guest.socket.get(), POLLIN, 0});
        if (!poll_until(all, end_)) continue;
        for (std::size_t i = 0; i < guests.size(); ++i)
          if (all[i + 1].revents && !hear(guests, i)) guests[i] = Guest();
        std::erase_if(guests, [](const Guest& guest) { return !guest.socket; });
        if (all[0].revents) problem = accept(listener, guests);
      }
      for (const Guest& guest : guests)
        if (is_rank(guest))
          require(send(guest.socket, concat(welcome, text), end_), where, "rank ", guest.rank,
                  " has left before it met the others, see its messages");
    };
    gpunet::detail::attempt<Error>(meet, [&](const Error& error) {
      std::string_view why = error.what();
      if (why.starts_with(where)) why.remove_prefix(where.size());
      for (const Guest& guest : guests)
        if (is_rank(guest))
          send(guest.socket, concat(failed, why), Clock::now() + std::chrono::seconds(1));
      gpunet::detail::rethrow();
    });
    for (Guest& guest : guests)
      if (is_rank(guest)) links_.add(guest.rank, std::move(guest.socket));
    return text;
  }
  // Lets one in. Returns the error that keeps it out, or 0.
  int accept(const Socket& listener, std::vector<Guest>& guests) const {
    Socket socket(::accept(listener.get(), nullptr, nullptr));
    if (!socket) {
      const int problem = errno;
      if (problem == EAGAIN || problem == EWOULDBLOCK || problem == EINTR ||
          problem == ECONNABORTED)
        return 0;
      // too many open files: it stays outside.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return problem;
    }
    socket.keep_alive();
    // The oldest of too many that say nothing goes.
    if (std::ranges::count_if(guests, std::not_fn(is_rank)) >= 64 + launch_.world_size)
      guests.erase(std::ranges::find_if_not(guests, is_rank));
    guests.push_back({std::move(socket), {}, 0});
    return 0;
  }
  // Reads the message of a guest. Returns whether it stays.
  bool hear(std::vector<Guest>& guests, std::size_t i) const {
    Guest& guest = guests[i];
    const Socket::Read got = guest.socket.read(guest.come);
    if (is_rank(guest))
      // It waits for an answer, or has lost its connection.
      return got == Socket::Read::nothing_yet;
    std::string text;
    const Taken taken = take(guest.come, text);
    if (taken == Taken::not_yet) return got != Socket::Read::end;
    if (taken == Taken::other_program) return false;
    for (index_t r = 1; r < launch_.world_size; ++r) {
      if (text != hello(r)) continue;
      const bool is_second = std::any_of(guests.begin(), guests.end(),
                                         [&](const Guest& other) { return other.rank == r; });
      if (!is_second) guest.rank = r;
      if (is_second)
        send(guest.socket,
             concat(refused, "rank ", r,
                    " is there already (two processes with one RANK, or two trainings with one "
                    "MASTER_PORT?), give each its own"),
             Clock::now());
      return !is_second;
    }
    send(guest.socket,
         concat(refused, "rank 0 is one of ", launch_.world_size,
                " processes (of another training?), give each training a MASTER_PORT of its own, "
                "and all its ranks one WORLD_SIZE"),
         Clock::now());
    return false;
  }
  // Returns the ranks that are not there.
  std::string missing(const std::vector<Guest>& guests) const {
    std::vector<bool> is_there(static_cast<std::size_t>(launch_.world_size));
    for (const Guest& guest : guests)
      is_there[static_cast<std::size_t>(guest.rank)] = true;
    return missing(is_there);
  }

  // Another rank: asks until rank 0 is there. The name too: in containers it may come later.
  std::string fetch() {
    std::chrono::milliseconds pause(50);
    for (std::string why;;) {
      addrinfo hints{};
      hints.ai_socktype = SOCK_STREAM;
      addrinfo* found = nullptr;
      const auto resolve = [&](const char* name) {
        return resolve_(name, std::to_string(port_).c_str(), &hints, &found);
      };
      int problem = resolve(address_.c_str());
      // Without /etc/hosts.
      if (problem != 0 && address_ == "localhost") problem = resolve("127.0.0.1");
      const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(
          problem == 0 ? found : nullptr, &::freeaddrinfo);
      const bool may_come = problem == EAI_AGAIN || problem == EAI_NONAME
#ifdef EAI_NODATA
                            || problem == EAI_NODATA
#endif
          ;
      require(problem == 0 || (may_come && Clock::now() < end_), where, "MASTER_ADDR is \"",
              address_,
              "\": ", problem == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(problem),
              may_come ? concat(", also after ", seconds(), " s") : "",
              ", set it to the name or address of rank 0's machine");
      for (const addrinfo* at = owner.get(); at; at = at->ai_next) {
        Guest self{
            Socket(::socket(at->ai_family, at->ai_socktype, at->ai_protocol)), {}, launch_.rank};
        std::string answer;
        if (!ask(*at, self, answer, why)) continue;
        require(!answer.starts_with(failed), where,
                answer.substr(std::min(answer.size(), failed.size())));
        require(answer.starts_with(welcome), where, "rank ", launch_.rank, " of ",
                launch_.world_size, " was sent away by ", place(), ": ",
                answer.starts_with(refused)
                    ? answer.substr(refused.size())
                    : "another program answers there, set another MASTER_PORT on all ranks");
        links_.add(0, std::move(self.socket), std::move(self.come));
        return answer.substr(welcome.size());
      }
      require(problem != 0 || Clock::now() < end_, where, "rank ", launch_.rank, " of ",
              launch_.world_size, " does not reach rank 0 (", place(), ") within ", seconds(),
              " s: ", why,
              ", see the messages of rank 0, and whether MASTER_ADDR and MASTER_PORT are those of "
              "its machine");
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now());
      std::this_thread::sleep_for(std::clamp(left, std::chrono::milliseconds(0), pause));
      pause = std::min(pause * 3 / 2, std::chrono::milliseconds(1000));
    }
  }
  // Says hello at an address. Returns whether there is an answer, else `why` not.
  bool ask(const addrinfo& at, Guest& self, std::string& answer, std::string& why) const {
    const auto fails = [&](int problem) {
      why = std::strerror(problem);
      return false;
    };
    const Socket& socket = self.socket;
    if (!socket) return fails(errno);
    if (::connect(socket.get(), at.ai_addr, at.ai_addrlen) != 0) {
      if (errno != EINPROGRESS && errno != EINTR) return fails(errno);
      // A few seconds: there may be other addresses.
      if (!socket.wait(POLLOUT, std::min(end_, Clock::now() + std::chrono::seconds(3))))
        return fails(ETIMEDOUT);
      int problem = 0;
      socklen_t size = sizeof problem;
      ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
      if (problem != 0) return fails(problem);
    }
    if (is_own(socket)) return fails(ECONNREFUSED);
    socket.keep_alive();
    if (!send(socket, hello(launch_.rank), end_)) return fails(ECONNRESET);
    // Rank 0, which began later, says who has not come.
    const auto end = end_ + std::chrono::seconds(2);
    for (;;) {
      if (!socket.wait(POLLIN, end)) {
        why = "it does not answer (not all ranks have come, or another program has the port)";
        return false;
      }
      const Socket::Read got = socket.read(self.come);
      const Taken taken = take(self.come, answer);
      if (taken == Taken::other_program) answer.clear();
      if (taken != Taken::not_yet) return true;
      if (got == Socket::Read::end) return fails(ECONNRESET);
    }
  }
  // Returns whether a socket is connected with itself: TCP does that where it happens to give it
  // the port that it asks for.
  static bool is_own(const Socket& socket) {
    sockaddr_storage own{}, other{};
    socklen_t own_size = sizeof own, other_size = sizeof other;
    return ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
           ::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&other), &other_size) == 0 &&
           own_size == other_size && std::memcmp(&own, &other, own_size) == 0;
  }

  // By a file that rank 0 writes when all others have a mark beside it. Files of a meeting that
  // failed do not matter: each process has a new random word. Rank r says its word in its mark;
  // rank 0 writes its own word, the words of all marks, and the text; a rank that finds its word
  // there reads the text, and says the word of rank 0 in its mark. When all marks have that, rank 0
  // removes all.
  std::string by_file(const std::string& path, const std::string& text) {
    const std::string word = random_word();
    return launch_.rank == 0 ? give_file(path, text, word) : take_file(path, word);
  }
  std::string give_file(const std::string& path, const std::string& text,
                        const std::string& word) const {
    const int claim = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    require(claim >= 0 || errno != EEXIST, where, "the file of ", options_.init_method,
            " is there already (of another training, or of one that has failed), remove it, or "
            "give another path");
    require_written(claim >= 0, path);
    ::close(claim);
    Removal removal{{path}};
    std::vector<std::string> words(static_cast<std::size_t>(launch_.world_size)), written;
    words[0] = word;
    for (;;) {
      std::vector<bool> is_there(words.size(), true), has_read(words.size(), true);
      for (std::size_t r = 1; r < words.size(); ++r) {
        const std::string mark = contents(mark_of(path, r));
        has_read[r] = mark == concat(read_mark, word);
        if (mark.starts_with(here_mark)) words[r] = mark.substr(here_mark.size());
        is_there[r] = !words[r].empty();
      }
      if (missing(has_read).empty()) break;
      if (missing(is_there).empty() && words != written) {
        std::string all;
        for (const std::string& one : words)
          all += one + "\n";
        write(path, all + text);
        written = words;
      }
      pause_for_file(missing(is_there).empty() ? missing(has_read) : missing(is_there));
    }
    for (std::size_t r = 1; r < words.size(); ++r)
      removal.paths.push_back(mark_of(path, r));
    return text;
  }
  std::string take_file(const std::string& path, const std::string& word) const {
    const std::string mark = mark_of(path, static_cast<std::size_t>(launch_.rank));
    Removal removal{{mark}};  // if this fails
    write(mark, concat(here_mark, word));
    for (;; pause_for_file("0")) {
      std::istringstream all(contents(path));
      std::string line, first;
      std::getline(all, first);
      bool is_meant = false;
      for (index_t r = 1; r < launch_.world_size && std::getline(all, line); ++r)
        is_meant = is_meant || (r == launch_.rank && line == word);
      if (!is_meant) continue;
      std::ostringstream text;
      if (all.peek() != std::istringstream::traits_type::eof()) text << all.rdbuf();
      write(mark, concat(read_mark, first));
      removal.paths.clear();
      return text.str();
    }
  }
  static constexpr std::string_view here_mark = "here ", read_mark = "read ";
  static std::string mark_of(const std::string& path, std::size_t rank) {
    return concat(path, ".", rank);
  }
  // Files that are removed at the end of a scope.
  struct Removal {
    std::vector<std::string> paths;
    ~Removal() {
      for (const std::string& path : paths)
        std::remove(path.c_str());
    }
  };
  static std::string random_word() {
    std::random_device random;
    return concat(random(), "-", random(), "-", random(), "-", random());
  }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  // Writes a file as a whole.
  void write(const std::string& path, const std::string& text) const {
    const std::string temporary = path + ".tmp";
    const Removal removal{{temporary}};  // if this fails
    std::ofstream file(temporary, std::ios::binary);
    file << text;
    file.close();
    const bool is_written = file.good() && std::rename(temporary.c_str(), path.c_str()) == 0;
    require_written(is_written, path);
  }
  void require_written(bool is_written, const std::string& path) const {
    require(is_written, where, "rank ", launch_.rank, " cannot write ", path, ": ",
            std::strerror(errno), ", give a path in a folder that all ranks can write to");
  }
  void pause_for_file(const std::string& ranks) const {
    require(Clock::now() < end_, where, "rank ", ranks, " has not come to ", options_.init_method,
            " within ", seconds(), " s, see its messages, and whether all ranks have this folder");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  static std::string missing(const std::vector<bool>& is_there) {
    std::string ranks;
    for (std::size_t r = 1; r < is_there.size(); ++r)
      if (!is_there[r]) ranks += concat(ranks.empty() ? "" : ", ", r);
    return ranks;
  }
  double seconds() const {
    return std::chrono::duration<double>(options_.timeout).count();
  }

  const Launch& launch_;
  const CommunicatorOptions& options_;
  Resolve resolve_;
  Clock::time_point end_;
  std::string address_;
  int port_ = 0;
  Links links_;
};

}  // namespace gpunet::distributed::detail
