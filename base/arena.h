#pragma once
#include <cstring>
#include <memory_resource>
#include <string_view>

namespace cepd {

/// Memory for strings that live as long as one event or one match. Not copied, not moved: what it hands out stays put.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A copy of `text` that lives until the arena is destroyed or released.
  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    auto* bytes = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::memcpy(bytes, text.data(), text.size());
    return {bytes, text.size()};
  }
  /// Frees all that was handed out.
  void release() { memory_.release(); }

 private:
  std::pmr::monotonic_buffer_resource memory_{128};
};

}  // namespace cepd
