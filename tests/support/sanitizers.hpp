// Whether the address sanitizer watches a test, which takes many times as long then: what repeats
// may do so less often.
#pragma once

#if defined __SANITIZE_ADDRESS__
inline constexpr bool under_sanitizers = true;
#elif defined __has_feature
inline constexpr bool under_sanitizers = __has_feature(address_sanitizer);
#else
inline constexpr bool under_sanitizers = false;
#endif
