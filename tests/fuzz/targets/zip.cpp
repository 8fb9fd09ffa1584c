// The tables of contents of zip archives.
#include <gpunet/io/zip.hpp>

#include "fuzz.hpp"

namespace {

const fuzz::Register zip({"zip",
                          [](fuzz::Bytes bytes) {
                            const gpunet::io::detail::ZipArchive archive(bytes, "the archive");
                            std::size_t size = 0;
                            for (const auto& member : archive.members()) {
                              size += member.name.size() + member.packed.size();
                              fuzz::ensure(archive.find(member.name) == &member,
                                           "a member that is not found by its name");
                              if (member.method == gpunet::io::detail::zip::stored &&
                                  member.has_sum_of(member.packed))
                                fuzz::ensure(archive.stored_bytes(member).size() == member.size,
                                             "a stored member of another size");
                            }
                            fuzz::ensure(size <= bytes.size(), "members that share bytes");
                          },
                          [] {
                            std::vector<std::string> files = fuzz::corpus(".npz");
                            for (std::string& file : fuzz::corpus(".pth"))
                              if (file.starts_with("PK")) files.push_back(std::move(file));
                            return files;
                          }});

}  // namespace
