// Bodies of device_string.hpp.
#pragma once

#include <charconv>

#include <gpunet/device/device_string.hpp>

namespace gpunet {

GPUNET_INLINE DeviceChoice parse_device(std::string_view text) {
  constexpr std::string_view where = "gpunet::parse_device: ",
                             wanted = " (want cpu, cuda, cuda:N or auto)";
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  require(!text.empty(), where, "Device string must not be empty", wanted);

  const std::string_view kind = text.substr(0, text.find_first_not_of(letters));
  const std::string_view rest = text.substr(kind.size());  // "" or ":N"
  const std::string_view digits = rest.substr(rest.empty() ? 0 : 1);
  const bool is_number = digits.find_first_not_of("0123456789") == digits.npos &&
                         (!digits.starts_with('0') || digits == "0");
  require(!kind.empty() && (rest.empty() || (rest[0] == ':' && !digits.empty() && is_number)),
          where, "Invalid device string: '", text, "'", wanted);

  DeviceChoice choice;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), choice.index);
  require(digits.empty() || error == std::errc(), where, "Could not parse device index '", digits,
          "' in device string '", text, "': there is no device of that number", wanted);
  if (kind == "auto") {
    require(rest.empty(), where, "Invalid device string: '", text, "': auto takes no number",
            wanted);
    return choice;
  }
  require(kind == "cpu" || kind == "cuda", where,
          "Expected one of cpu, cuda device type at start of device string: ", kind, wanted);
  choice.kind = kind == "cpu" ? DeviceChoice::Kind::cpu : DeviceChoice::Kind::cuda;
  return choice;
}

}  // namespace gpunet
