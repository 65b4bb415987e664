#include "state/multiset_hash.h"

#include <openssl/evp.h>

#include <memory>

#include "base/check.h"
#include "state/layout.h"

namespace cepd::state {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

/// One for each thread: to make one, and to look the algorithm up, costs more than to hash a record.
EVP_MD_CTX* context() {
  static EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);  // kept for the life of the process
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> own(EVP_MD_CTX_new());
  CEPD_CHECK(sha256 != nullptr && own != nullptr);
  CEPD_CHECK(EVP_DigestInit_ex2(own.get(), sha256, nullptr) == 1);
  return own.get();
}

}  // namespace

MultisetHash::Words MultisetHash::digest(Space space, std::string_view key, std::string_view value) {
  // The length keeps apart what key and value are.
  Writer head;
  head.byte(static_cast<std::uint8_t>(space));
  head.text(key);
  const std::string front = head.take();
  std::array<unsigned char, 32> bytes{};
  EVP_MD_CTX* const hashing = context();
  CEPD_CHECK(EVP_DigestUpdate(hashing, front.data(), front.size()) == 1);
  CEPD_CHECK(EVP_DigestUpdate(hashing, value.data(), value.size()) == 1);
  CEPD_CHECK(EVP_DigestFinal_ex(hashing, bytes.data(), nullptr) == 1);
  return from_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).sum_;
}

void MultisetHash::add(Space space, std::string_view key, std::string_view value) {
  const Words words = digest(space, key, value);
  bool carry = false;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const std::uint64_t partial = sum_[i] + words[i];
    const std::uint64_t whole = partial + (carry ? 1 : 0);
    carry = partial < words[i] || whole < partial;
    sum_[i] = whole;
  }
}

void MultisetHash::remove(Space space, std::string_view key, std::string_view value) {
  const Words words = digest(space, key, value);
  bool borrow = false;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const std::uint64_t partial = sum_[i] - words[i];
    const std::uint64_t whole = partial - (borrow ? 1 : 0);
    borrow = sum_[i] < words[i] || whole > partial;
    sum_[i] = whole;
  }
}

std::string MultisetHash::bytes() const {
  std::string out;
  for (std::size_t i = sum_.size(); i-- > 0;) append_ordered(out, sum_[i]);
  return out;
}

MultisetHash MultisetHash::from_bytes(std::string_view bytes) {
  MultisetHash hash;
  CEPD_CHECK(bytes.size() == sizeof hash.sum_);
  for (std::size_t i = 0; i < hash.sum_.size(); ++i) hash.sum_[3 - i] = read_ordered(bytes.substr(i * 8));
  return hash;
}

std::string MultisetHash::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes()) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

void StateSum::add(Space space, std::string_view key, std::string_view value) {
  hash.add(space, key, value);
  ++records;
  bytes += key.size() + value.size();
}

void StateSum::remove(Space space, std::string_view key, std::string_view value) {
  hash.remove(space, key, value);
  --records;
  bytes -= key.size() + value.size();
}

}  // namespace cepd::state
