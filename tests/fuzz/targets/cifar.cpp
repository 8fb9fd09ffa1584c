// The records of CIFAR-10 and CIFAR-100. The first byte chooses the set, and whether zeros fill the
// last record up.
#include <gpunet/data/cifar.hpp>

#include "fuzz.hpp"

namespace {

template <class Set>
void read_all(const Set& set, gpunet::label_t classes) {
  std::vector<float> sample(static_cast<std::size_t>(set.sample_sizes().numel()));
  for (gpunet::index_t i = 0; i < set.size(); ++i)
    fuzz::ensure(set.read(i, sample.data()) < classes, "a label that there is not");
}

const fuzz::Register cifar({"cifar",
                            [](fuzz::Bytes bytes) {
                              static const fuzz::MemoryFolder ten({"test_batch.bin"}),
                                  hundred({"test.bin"});
                              const unsigned choice = fuzz::take_choice(bytes, 4);
                              const bool is_ten = choice % 2 == 0;
                              const std::size_t record = is_ten ? 3073 : 3074;
                              std::vector<std::byte> file(bytes.begin(), bytes.end());
                              if (choice < 2)
                                file.resize((file.size() + record - 1) / record * record);
                              (is_ten ? ten : hundred).write(0, file);
                              if (is_ten)
                                read_all(gpunet::data::CIFAR10::test(ten.path()), 10);
                              else
                                read_all(gpunet::data::CIFAR100::test(hundred.path()), 100);
                            },
                            [] {
                              using namespace std::string_literals;
                              return std::vector<std::string>{"\0\x09pixels"s, "\1\x13\x63pixels"s,
                                                              "\2"s + std::string(3073, '\7'),
                                                              "\3"s + std::string(2 * 3074, '\7')};
                            }});

}  // namespace
