#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <numeric>
#include <thread>
#include <unistd.h>

#include <gpunet/core/random.hpp>
#include <gpunet/extras/tensorboard/event_file.hpp>
#include <gpunet/extras/tensorboard/summary_writer.hpp>
#include <gpunet/tensor/tensor.hpp>

#include "io/temp_folder.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/file_size_limit.hpp"

using namespace gpunet;
using io::SummaryWriter;
using io::detail::ProtoMessage;
using namespace std::string_literals;

namespace {

// The records of an event file, whose frames have to be whole.
std::vector<std::string> records_of(const std::string& path) {
  std::vector<std::string> records;
  const std::string text = read_text(path);
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t size = 0;
    REQUIRE(text.size() - at >= 16);
    std::memcpy(&size, text.data() + at, 8);
    REQUIRE(size <= text.size() - at - 16);
    const std::string data = text.substr(at + 12, size);
    CHECK(io::detail::event_record(data) == text.substr(at, size + 16));
    records.push_back(data);
    at += size + 16;
  }
  return records;
}

std::string event_file_in(const std::string& folder) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) found = entry.path().string();
  return found;
}

// The descriptor by which this program has the file open.
int descriptor_of(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the one of the iterator itself
    if (std::filesystem::read_symlink(entry.path(), gone) == std::filesystem::canonical(path))
      return std::stoi(entry.path().filename().string());
  }
  return -1;
}

}  // namespace

// What tensorboard.summary.writer.record_writer.RecordWriter writes of the same events
// (TensorBoard 2.21).
TEST_CASE("records are TensorBoard's") {
  const auto event = [](std::string_view tag, double value, std::int64_t step) {
    ProtoMessage message;
    message.number(1, 1.5).integer(2, static_cast<std::uint64_t>(step));
    message.message(5, ProtoMessage().message(1, io::detail::scalar_value(tag, value)));
    return io::detail::event_record(message.bytes());
  };
  CHECK(event("Train/Loss", 0.25, 300) ==
        "!\0\0\0\0\0\0\0\x01{\xec\xf6\t\0\0\0\0\0\0\xf8?\x10\xac\x02*\x13\n\x11\n\nTrain/"
        "Loss\x15\0\0\x80>\x90\x15"
        "4M"s);
  CHECK(event("t", std::numeric_limits<double>::infinity(), -1) ==
        " \0\0\0\0\0\0\0)\xed\xa9P\t\0\0\0\0\0\0\xf8?\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01*"
        "\n\n\x08\n\x01t"
        "\x15\0\0\x80\x7f"
        "6\xa8\x80\x9b"s);
}

// What torch.utils.tensorboard.summary.make_histogram has for the same numbers (PyTorch 2.15).
TEST_CASE("histograms count in PyTorch's bins") {
  CHECK(io::detail::histogram_limits().size() == 1549);
  const auto three = io::detail::count_in_bins({3});
  CHECK(three.limits == std::vector<double>{2.8787120958073054, 3.1665833053880363});
  CHECK(three.counts == std::vector<double>{0, 1});
  CHECK(io::detail::count_in_bins({0}).limits == std::vector<double>{0, 1e-12});
  CHECK(io::detail::count_in_bins({-1e-13}).limits == std::vector<double>{-1e-12, 0});
  const auto mixed = io::detail::count_in_bins({0, 0, -1, 1e-13, 2.5, 2.5});
  CHECK(mixed.limits.front() == -1.0089710279437536);
  CHECK(mixed.limits.back() == 2.6170109961884593);
  CHECK(mixed.counts.front() == 0);
  CHECK(mixed.counts[1] == 1);
  CHECK(mixed.counts.back() == 2);
  CHECK(std::count(mixed.counts.begin(), mixed.counts.end(), 3) == 1);
}

// PyTorch leaves larger ones out, and smaller ones.
TEST_CASE("histograms count values beyond all limits of PyTorch's bins") {
  constexpr double most = std::numeric_limits<double>::max();
  for (const double value : {1e21, 1e30, most}) {
    const auto bins = io::detail::count_in_bins({value});
    CHECK(bins.limits.back() == most);
    CHECK(bins.counts == std::vector<double>{0, 1});
  }
  Generator generator(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values;
    for (int i = 0; i <= round % 17; ++i)
      values.push_back((generator.random() % 2 ? 1 : -1) *
                       std::pow(10.0, generator.uniform(-310.0, 308.0)));
    const auto bins = io::detail::count_in_bins(values);
    CHECK(std::accumulate(bins.counts.begin(), bins.counts.end(), 0.0) ==
          static_cast<double>(values.size()));
    CHECK(std::is_sorted(bins.limits.begin(), bins.limits.end()));
    CHECK(bins.limits.back() >= *std::max_element(values.begin(), values.end()));
  }
}

TEST_CASE_TEMPLATE("tensors become histograms and images", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const TempFolder folder;
  SummaryWriter writer(folder / "run");
  CHECK(writer.log_dir() == folder / "run");
  const Tensor<float, D> pixels(device, {1, 2}, {0, 1});
  writer.add_histogram("weights", pixels, 1);
  writer.add_image("picture", pixels, 2);
  writer.flush();
  const auto records = records_of(event_file_in(folder / "run"));
  REQUIRE(records.size() == 3);
  CHECK(contains(records[0], "brain.Event:2"));
  CHECK(contains(records[1], "weights"));
  CHECK(contains(records[2], io::encode_png({2, 1, 1, {0, 255}})));
}

TEST_CASE("each value is in the file when its call returns, whoever calls") {
  const TempFolder folder;
  SummaryWriter writer(folder.path());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int step = 0; step < 50; ++step)
        writer.add_scalar("loss", step, step);
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(records_of(event_file_in(folder.path())).size() == 201);
}

TEST_CASE("several curves and hyperparameters have runs of their own") {
  const TempFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_scalars("loss/all", {{"train", 1}, {"test", 2}}, 0);
  writer.add_scalars("loss/all", {{"train", 1}, {"test", 2}}, 1);
  CHECK(records_of(event_file_in(folder / "loss_all_train")).size() == 3);
  CHECK(records_of(event_file_in(folder / "loss_all_test")).size() == 3);
  writer.add_hparams({{"lr", 0.1f}, {"layers", 3}, {"optimizer", "adam"}, {"flip", true}},
                     {{"accuracy", 0.5}}, "a");
  const auto records = records_of(event_file_in(folder / "a"));
  REQUIRE(records.size() == 5);
  CHECK(contains(records[1], "_hparams_/experiment"));
  CHECK(contains(records[2], "_hparams_/session_start_info"));
  CHECK(contains(records[2], "adam"));
  CHECK(contains(records[3], "_hparams_/session_end_info"));
  CHECK(contains(records[4], "accuracy"));
}

TEST_CASE("a folder by default") {
  const TempFolder folder;
  const std::string before = std::filesystem::current_path().string();
  std::filesystem::current_path(folder.path());
  const std::string log_dir = SummaryWriter("", "_try").log_dir();
  CHECK(std::filesystem::is_directory(log_dir));
  std::filesystem::current_path(before);
  CHECK(log_dir.substr(0, 5) == "runs/");
  CHECK(log_dir.substr(log_dir.size() - 4) == "_try");
}

TEST_CASE("what cannot be written") {
  const TempFolder folder;
  io::write_file_atomically(folder / "file", "x"s);
  CHECK(contains(error_of([&] { SummaryWriter(folder / "file"); }),
                 "gpunet::io: cannot make the folder " + folder / "file" +
                     ": Not a directory, a file has the name of the folder: give another path"));
  CHECK(contains(error_of([&] { SummaryWriter(folder / "file/runs"); }), "Not a directory"));
  SummaryWriter writer(folder / "runs");
  CHECK(contains(error_of([&] { writer.add_scalar("", 1); }), "the tag is empty"));
  CHECK(contains(error_of([&] { writer.add_text("", "x"); }), "the tag is empty"));
  CHECK(contains(error_of([&] { writer.add_histogram("h", std::vector<float>{}); }),
                 "the histogram h of 0 values has no finite one"));
  CHECK(contains(error_of([&] { writer.add_histogram("h", std::vector<float>{std::nanf("")}); }),
                 "of 1 values"));
  CHECK(contains(error_of([&] {
                   writer.add_image("i", {2, 2, 3, {}});
                 }),
                 "has 0 bytes (want one for each channel of each pixel)"));
  CHECK(records_of(event_file_in(folder / "runs")).size() == 1);  // nothing of all that
}

TEST_CASE("a curve whose file cannot be made leaves the writer as it was") {
  const TempFolder folder;
  SummaryWriter writer(folder.path());
  const std::string long_name(300, 'n');
  io::write_file_atomically(folder / "loss_taken", "x"s);
  for (int i = 0; i < 2; ++i) {
    CHECK(contains(error_of([&] {
                     writer.add_scalars("loss", {{long_name, 1}});
                   }),
                   "File name too long"));
    CHECK(contains(error_of([&] {
                     writer.add_scalars("loss", {{"taken", 1}});
                   }),
                   "Not a directory"));
    writer.flush();
  }
  writer.add_scalars("loss", {{"train", 1}});
  writer.flush();
  CHECK(records_of(event_file_in(folder / "loss_train")).size() == 2);
}

TEST_CASE("threads may add curves while another one flushes") {
  const TempFolder folder;
  SummaryWriter writer(folder.path());
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&writer, i] {
      for (int step = 0; step < 20; ++step) {
        writer.add_scalars("loss", {{std::to_string(10 * i + step), 1}}, step);
        writer.add_scalar("loss", 1, step);
      }
    });
  for (int step = 0; step < 20; ++step)
    writer.flush();
  for (std::thread& thread : threads)
    thread.join();
  CHECK(records_of(event_file_in(folder.path())).size() == 41);
}

TEST_CASE("a write that fails half-way leaves whole records, and later ones are readable") {
  const TempFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_scalar("loss", 1, 0);
  const std::string path = event_file_in(folder.path());
  const auto size = std::filesystem::file_size(path);
  {
    const FileSizeLimit limit(size + 100);
    for (int i = 0; i < 2; ++i)
      CHECK(contains(error_of([&] { writer.add_text("note", std::string(200, 'x')); }),
                     path + ": File too large"));
    CHECK(std::filesystem::file_size(path) == size);
  }
  writer.add_scalar("loss", 2, 1);
  CHECK(records_of(path).size() == 3);
}

TEST_CASE("an event file that cannot be begun is not left behind") {
  const TempFolder folder;
  {
    const FileSizeLimit limit(10);
    CHECK(contains(error_of([&] { SummaryWriter(folder.path()); }), "File too large"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a writer whose file cannot be cut back says so at each later call") {
  const TempFolder folder;
  SummaryWriter writer(folder.path());
  const std::string path = event_file_in(folder.path());
  const int file = descriptor_of(path);
  REQUIRE(file >= 0);
  int ends[2];  // of a pipe, which takes a part of a record and cannot be cut
  REQUIRE(::pipe2(ends, O_NONBLOCK) == 0);
  const int before = ::dup(file);
  REQUIRE(::dup2(ends[1], file) == file);
  CHECK(contains(error_of([&] { writer.add_text("note", std::string(1 << 20, 'x')); }),
                 "Resource temporarily unavailable"));
  for (int i = 0; i < 2; ++i)
    CHECK(contains(error_of([&] { writer.add_scalar("loss", 1, i); }),
                   path + ": an earlier write left a partial record that could not be removed"));
  CHECK(contains(error_of([&] { writer.flush(); }), "an earlier write left a partial record"));
  REQUIRE(::dup2(before, file) == file);  // a file that can be cut again
  writer.add_scalar("loss", 1, 2);
  writer.flush();
  CHECK(records_of(path).size() == 2);
  for (const int end : {ends[0], ends[1], before})
    ::close(end);
}
