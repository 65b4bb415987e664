#include "adapters/dead_letter_reader.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "adapters/dead_letter.h"

namespace cepd::adapters {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10;

/// None where it is no Base64.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  // It decodes the padding to zeros.
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

/// Empty or 0 where there is none.
template <class Value>
Value value_of(const simdjson::dom::object& record, const char* name) {
  Value value{};
  return record[name].get(value) == simdjson::SUCCESS ? value : Value{};
}

std::optional<DeadLetter> parse(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::object record;
  DeadLetter letter;
  if (parser.parse(line.data(), line.size()).get(record) != simdjson::SUCCESS ||
      record["n"].get(letter.number) != simdjson::SUCCESS)
    return std::nullopt;
  const auto text = [&](const char* name) { return std::string(value_of<std::string_view>(record, name)); };
  letter.time = text("time");
  letter.source = text("source");
  letter.partition = value_of<std::int64_t>(record, "partition");
  letter.offset = value_of<std::int64_t>(record, "offset");
  letter.topic = text("topic");
  letter.reason = text("reason");
  letter.detail = text("detail");
  letter.truncated_from = value_of<std::uint64_t>(record, "truncated_from");
  letter.bytes = text("text");
  std::string_view coded;
  if (record["base64"].get(coded) == simdjson::SUCCESS) {
    auto decoded = from_base64(coded);
    if (!decoded) return std::nullopt;
    letter.bytes = *std::move(decoded);
  }
  letter.line = line;
  return letter;
}

}  // namespace

DeadLetterReader::DeadLetterReader(std::string path, std::uint64_t after) : path_(std::move(path)), last_(after) {
  open(dead_letters_before(path_));
}

DeadLetterReader::~DeadLetterReader() {
  if (fd_ >= 0) ::close(fd_);
}

void DeadLetterReader::open(const std::string& path) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  rest_ = false;
  buffer_.clear();
  at_ = 0;
}

/// Whether what is read is no longer the file under the name.
bool DeadLetterReader::replaced() const {
  struct stat mine {
  }, there{};
  if (::stat(path_.c_str(), &there) != 0) return false;
  return fd_ < 0 || ::fstat(fd_, &mine) != 0 || mine.st_ino != there.st_ino || mine.st_dev != there.st_dev;
}

/// False: there is nothing more for now.
bool DeadLetterReader::read_more() {
  while (true) {
    buffer_.erase(0, std::exchange(at_, 0));
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kChunk);
    ssize_t got = 0;
    do {
      got = fd_ < 0 ? 0 : ::read(fd_, buffer_.data() + had, kChunk);
    } while (got < 0 && errno == EINTR);
    buffer_.resize(had + static_cast<std::size_t>(got < 0 ? 0 : got));
    if (got > 0) return true;
    // What was written before the name went to the next file is read first.
    if (!rest_) {
      if (!replaced()) return false;
      rest_ = true;
    } else {
      open(path_);
    }
  }
}

std::optional<DeadLetter> DeadLetterReader::next() {
  while (true) {
    const std::size_t end = buffer_.find('\n', at_);
    if (end == std::string::npos) {
      if (!read_more()) return std::nullopt;
      continue;
    }
    auto letter = parse(std::string_view(buffer_).substr(at_, end - at_));
    at_ = end + 1;
    if (!letter) {
      ++skipped_;
    } else if (letter->number > last_) {
      last_ = letter->number;
      return letter;
    }
  }
}

}  // namespace cepd::adapters
