// The pickles of files of torch.save. The input takes the place of the data.pkl of an archive whose
// storages are those of a file of the corpus, which the first byte chooses.
#include <utility>

#include <gpunet/io/torch_file.hpp>
#include <gpunet/io/zip.hpp>

#include "fuzz.hpp"

namespace {

using Member = std::pair<std::string, std::string>;  // name, contents

// A zip archive of stored members without checksums.
std::string archive_of(const std::vector<Member>& members) {
  const auto number = [](std::size_t value, std::size_t bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes; ++i)
      out += static_cast<char>(i < 4 ? value >> 8 * i : 0);
    return out;
  };
  std::string files, table;
  for (const auto& [name, contents] : members) {
    // From the flags to the lengths of name and extra field, which a header and an entry of the
    // table have in common.
    const std::string facts = number(0, 12) + number(contents.size(), 4) +
                              number(contents.size(), 4) + number(name.size(), 2) + number(0, 2);
    table += "PK\1\2" + number(0, 4) + facts + number(0, 10) + number(files.size(), 4) + name;
    files += "PK\3\4" + number(0, 2) + facts + name + contents;
  }
  return files + table + "PK\5\6" + number(0, 4) + number(members.size(), 2) +
         number(members.size(), 2) + number(table.size(), 4) + number(files.size(), 4) +
         number(0, 2);
}

struct Archive {
  std::vector<Member> members;  // the pickle is the first
};

const std::vector<Archive>& archives() {
  static const std::vector<Archive> all = [] {
    std::vector<Archive> out;
    for (const std::string& file : fuzz::corpus(".pth")) {
      if (!file.starts_with("PK")) continue;
      const gpunet::io::detail::ZipArchive zip(fuzz::bytes_of(file), "the corpus");
      Archive archive;
      for (const auto& member : zip.members()) {
        const bool is_pickle = member.name.ends_with("/data.pkl");
        archive.members.emplace(is_pickle ? archive.members.begin() : archive.members.end(),
                                member.name, fuzz::text_of(member.packed));
      }
      out.push_back(std::move(archive));
    }
    return out;
  }();
  return all;
}

const fuzz::Register pickle(
    {"pickle",
     [](fuzz::Bytes bytes) {
       const unsigned choice = fuzz::take_choice(bytes, static_cast<unsigned>(archives().size()));
       std::vector<Member> members = archives()[choice].members;
       members[0].second = fuzz::text_of(bytes);
       const std::string file = archive_of(members);
       fuzz::read_elements(gpunet::io::TorchFile::read(fuzz::file_of(fuzz::bytes_of(file))));
     },
     [] {
       std::vector<std::string> out;
       for (const Archive& archive : archives())
         out.push_back(static_cast<char>(out.size()) + archive.members[0].second);
       return out;
     }});

}  // namespace
