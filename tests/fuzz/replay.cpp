// replay TARGET [--write FOLDER] [FILE|FOLDER...]: runs a target once over its seeds and over these
// files, without a fuzzer. A finding ends it with a signal. With --write, the seeds become files of
// that folder instead.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "fuzz.hpp"

namespace {

std::vector<std::string> files_at(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(path))
    if (file.is_regular_file()) files.push_back(file.path().native());
  std::sort(files.begin(), files.end());
  return files;
}

// How many of these inputs the target reads.
std::size_t replay(const fuzz::Target& target, const std::vector<std::string>& inputs) {
  std::size_t read = 0;
  for (const std::string& input : inputs) {
    const std::vector<std::byte> bytes(fuzz::bytes_of(input).begin(), fuzz::bytes_of(input).end());
    read += fuzz::run(target, bytes);  // not in a string, behind whose bytes there are others
  }
  return read;
}

// Some inputs that are not well-formed: each seed cut short, and with single bytes changed, at a
// few places.
std::vector<std::string> broken(const std::vector<std::string>& seeds) {
  constexpr std::size_t places = 32;
  std::vector<std::string> out;
  for (const std::string& seed : seeds)
    for (std::size_t i = 0; i < std::min(places, seed.size()); ++i) {
      const std::size_t at = seed.size() <= places ? i : i * seed.size() / places;
      out.push_back(seed.substr(0, at));
      out.push_back(seed);
      out.back()[at] = static_cast<char>(out.back()[at] ^ 0xFF);
    }
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const fuzz::Target* target = nullptr;
  for (const fuzz::Target& known : fuzz::targets())
    if (!arguments.empty() && known.name == arguments[0]) target = &known;
  if (!target) {
    std::fprintf(stderr, "replay: want one of these targets first:");
    for (const fuzz::Target& known : fuzz::targets())
      std::fprintf(stderr, " %.*s", static_cast<int>(known.name.size()), known.name.data());
    std::fprintf(stderr, "\n");
    return 2;
  }
  const std::vector<std::string> seeds = target->seeds();
  if (arguments.size() == 3 && arguments[1] == "--write") {
    for (std::size_t i = 0; i < seeds.size(); ++i)
      std::ofstream(gpunet::io::join(arguments[2], gpunet::concat("seed-", i)), std::ios::binary)
          << seeds[i];
    return 0;
  }
  const std::size_t read = replay(*target, seeds);
  const std::vector<std::string> damaged = broken(seeds);
  replay(*target, damaged);
  std::size_t files = 0;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    for (const std::string& path : files_at(arguments[i])) {
      replay(*target, {read_text(path)});
      ++files;
    }
  std::printf("%s: %zu of %zu seeds are read, %zu broken ones and %zu files are refused or read\n",
              arguments[0].c_str(), read, seeds.size(), damaged.size(), files);
  return read > 0 ? 0 : 1;  // a target that reads none of its seeds tests nothing
} catch (const std::exception& error) {
  std::fprintf(stderr, "replay: %s\n", error.what());
  return 2;
}
