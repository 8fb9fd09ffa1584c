// Any file into a small network. The first byte chooses how the names of the file find those of the
// network.
#include <gpunet/io/zlib.hpp>
#include <gpunet/model/model.hpp>
#include <gpunet/model/save_load.hpp>
#include <gpunet/nn/batch_norm.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/sequential.hpp>

#include "fuzz.hpp"
#include "io/python_files.hpp"

namespace {

using namespace gpunet;
using Net = nn::Sequential<nn::Input<3>, nn::Linear<2>, nn::BatchNorm1d>;

io::LoadOptions options(unsigned choice) {
  io::LoadOptions out;
  out.strict = choice % 2 == 0;
  if (choice / 2 % 2 == 1) out.match = io::by_order;
  if (choice / 4 % 2 == 1) out.key = "state_dict";
  if (choice / 8 % 2 == 1) out.prefix = "module.";
  if (choice / 16 % 2 == 1)
    out.rename = [](std::string_view name) {
      return "0." + std::string(name);
    };
  return out;
}

// As bytes would be: a file may hold NaN.
bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const fuzz::Register load(
    {"load",
     [](fuzz::Bytes bytes) {
       static Host host({.threads = 1});
       static Model<Net, Host> net(host);
       const auto numbers = [](const auto& view) {
         return std::vector<float>(view.data(), view.data() + view.numel());
       };
       const unsigned choice = fuzz::take_choice(bytes, 32);
       const std::vector<float> parameters = numbers(net.parameters()),
                                buffers = numbers(net.buffers());
       try {
         io::load(net, fuzz::file_of(bytes), options(choice));
       } catch (const Error&) {
         fuzz::ensure(are_same(parameters, numbers(net.parameters())) &&
                          are_same(buffers, numbers(net.buffers())),
                      "a network that is changed though loading failed");
         throw;
       }
     },
     [] {
       Host host({.threads = 1});
       const Model<Net, Host> net(host);
       const TempFolder folder;
       std::vector<std::string> files = {python_files::two_tensors};
       for (const char* name : {"net.safetensors", "net.pth", "net.npz"}) {
         io::save(net, folder / name);
         files.push_back(fuzz::without_sums(read_text(folder / name)));
       }
       for (const char* ending : {"legacy.pth", "checkpoint.pth", "stored.npz", "c_order.npy"})
         files.push_back(fuzz::corpus(ending).at(0));
       std::vector<std::string> inputs;
       for (const std::string& file : files)
         for (const char choice : {'\0', '\1', '\3', '\4'})
           inputs.push_back(choice + file);
       return inputs;
     }});

}  // namespace
