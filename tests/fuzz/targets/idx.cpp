// The idx files of MNIST, as they are or packed by gzip. The first two bytes say how long the file
// of labels is; that of images follows it.
#include <gpunet/data/mnist.hpp>
#include <gpunet/io/zlib.hpp>

#include "fuzz.hpp"
#include "support/stored_deflate.hpp"

namespace {

using namespace std::string_literals;

std::string two_files(const std::string& labels, const std::string& images) {
  return std::string{static_cast<char>(labels.size()), static_cast<char>(labels.size() >> 8)} +
         labels + images;
}

const fuzz::Register idx(
    {"idx",
     [](fuzz::Bytes bytes) {
       static const fuzz::MemoryFolder folder({"t10k-labels-idx1-ubyte", "t10k-images-idx3-ubyte"});
       const std::size_t low = fuzz::take_choice(bytes, 256), high = fuzz::take_choice(bytes, 256);
       const std::size_t labels = std::min(low + 256 * high, bytes.size());
       folder.write(0, bytes.first(labels));
       folder.write(1, bytes.subspan(labels));
       const auto set = gpunet::data::MNIST::test(folder.path());
       std::vector<float> sample(static_cast<std::size_t>(set.sample_sizes().numel()));
       for (gpunet::index_t i = 0; i < set.size(); ++i)
         fuzz::ensure(set.read(i, sample.data()) < 10, "a label over 9");
     },
     [] {
       const std::string labels = "\0\0\x08\1\0\0\0\3\1\2\x09"s;
       const std::string images = "\0\0\x08\3\0\0\0\3\0\0\0\2\0\0\0\2abcdefghijkl"s;
       return std::vector<std::string>{
           two_files(labels, images), two_files(gzip_stored(labels, "labels"), gzip_stored(images)),
           two_files("\0\0\x08\1\0\0\0\0"s, "\0\0\x08\3\0\0\0\0\0\0\0\x1C\0\0\0\x1C"s)};
     }});

}  // namespace
