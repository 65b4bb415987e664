// `cepd dlq`: looks at dead letters, and takes what was refused once more.
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "actions/http_poster.h"
#include "adapters/dead_letter_reader.h"
#include "app/commands.h"
#include "app/rule_messages.h"
#include "app/settings.h"

namespace cepd::app {
namespace {

using adapters::DeadLetter;
using adapters::DeadLetterReader;

/// Events in one request, and their bytes: far below what an HTTP source takes by default.
constexpr std::size_t kBatch = 100, kBatchBytes = std::size_t{1} << 20;
/// A daemon that is full or away is asked again for so long.
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kAgain{500};

int fail(const std::string& why) {
  std::cerr << "cepd dlq: " << why << "\n";
  return kFailed;
}

bool wanted(const DeadLetter& letter, const DlqArguments& arguments) {
  const auto& numbers = arguments.numbers;
  if (!numbers.empty() && std::ranges::find(numbers, letter.number) == numbers.end()) return false;
  if (!arguments.reason.empty() && letter.reason != arguments.reason) return false;
  // A source's topic is a part of it.
  const std::string& source = arguments.source;
  return source.empty() || letter.source == source || letter.source.starts_with(source + "/");
}

std::string place(const DeadLetter& letter) {
  std::string text = letter.source + " " + std::to_string(letter.partition) + ":" + std::to_string(letter.offset);
  if (!letter.topic.empty()) text += " (" + letter.topic + ")";
  return text;
}

void note_skipped(const DeadLetterReader& reader) {
  if (const auto lines = reader.skipped_lines())
    std::cerr << "cepd dlq: " << lines << " lines are no dead letters and are left out\n";
}

int list(DeadLetterReader& reader, const DlqArguments& arguments) {
  std::uint64_t count = 0;
  while (const auto letter = reader.next()) {
    if (!wanted(*letter, arguments)) continue;
    ++count;
    std::cout << letter->number << "  " << letter->time << "  " << letter->reason << "  " << place(*letter) << "  "
              << letter->detail << "\n";
  }
  note_skipped(reader);
  std::cerr << count << " dead letters\n";
  return kGood;
}

/// Other bytes of a text than printable ones as \xNN, so that they do nothing to a terminal.
std::string printable(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  const bool text = simdjson::validate_utf8(bytes.data(), bytes.size());
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool shown = c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7F && (text || byte < 0x80));
    if (shown) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return out;
}

int show(DeadLetterReader& reader, const DlqArguments& arguments) {
  std::size_t found = 0;
  while (found < arguments.numbers.size()) {
    const auto letter = reader.next();
    if (!letter) break;
    if (!wanted(*letter, arguments)) continue;
    ++found;
    if (arguments.raw) {
      std::cout << letter->bytes;
      continue;
    }
    std::cout << "number  " << letter->number << "\ntime    " << letter->time << "\nreason  " << letter->reason
              << "\ndetail  " << letter->detail << "\nfrom    " << place(*letter) << "\nbytes   ";
    if (!letter->whole()) std::cout << "the first ";
    std::cout << letter->bytes.size();
    if (letter->truncated_from != 0) std::cout << " of " << letter->truncated_from;
    std::cout << "\n";
    std::cout << printable(letter->bytes) << "\n";
  }
  if (found == arguments.numbers.size()) return kGood;
  return fail(std::to_string(arguments.numbers.size() - found) + " of these numbers are not there");
}

/// The event on one line; none where it cannot be taken once more, with the reason in `why`.
std::optional<std::string> one_event(const DeadLetter& letter, std::string& why) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (!letter.whole()) {
    why = "only its beginning is kept";
  } else if (parser.parse(letter.bytes).get(object) != simdjson::SUCCESS) {
    why = "it is no JSON object";
  } else {
    // Line ends between its members, and nothing else, are no part of it.
    std::string line = letter.bytes;
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return line;
  }
  return std::nullopt;
}

/// Where `--to` says: a URL, or an http source of the configuration. Errors: kInvalidArgument.
Result<std::string> target(const std::string& to, const Settings& settings) {
  if (to.starts_with("http://") || to.starts_with("https://")) return to;
  const config::Node* sources = settings.root.find("sources");
  const config::Node* source = sources == nullptr ? nullptr : sources->find(to);
  const auto scalar = [&](const char* name, const std::string& otherwise) {
    const config::Node* node = source->find(name);
    return node == nullptr ? otherwise : node->scalar;
  };
  if (source == nullptr || scalar("type", "") != "http")
    return error(Errc::kInvalidArgument, "--to: expected a URL or the name of an http source, got \"" + to + "\"");
  std::string host = scalar("host", "127.0.0.1");
  if (host == "0.0.0.0") host = "127.0.0.1";
  return "http://" + host + ":" + scalar("port", "") + "/events";
}

/// Posts events until the receiver has taken them. Errors: it will not.
class Poster {
 public:
  explicit Poster(std::string url) : url_(std::move(url)), http_({}, {}, {}) {}

  Status add(const std::string& event, std::uint64_t number) {
    body_ += (body_.empty() ? "[" : ",") + event;
    if (count_++ == 0) first_ = number;
    last_ = number;
    return count_ < kBatch && body_.size() < kBatchBytes ? Status() : flush();
  }

  Status flush() {
    if (count_ == 0) return {};
    const std::string key = "dead-letters-" + std::to_string(first_) + "-" + std::to_string(last_);
    body_ += "]";
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (true) {
      const actions::Outcome outcome = http_.post(url_, body_, key);
      if (outcome.delivery == actions::Delivery::kDone) break;
      if (outcome.delivery == actions::Delivery::kRejected || std::chrono::steady_clock::now() > until) {
        return error(Errc::kIo, "numbers " + std::to_string(first_) + " to " + std::to_string(last_) +
                                    " and what comes behind them were not taken: " + outcome.detail);
      }
      std::this_thread::sleep_for(kAgain);
    }
    body_.clear();
    count_ = 0;
    return {};
  }

 private:
  const std::string url_;
  actions::HttpPoster http_;
  std::string body_;
  std::size_t count_ = 0;
  std::uint64_t first_ = 0, last_ = 0;
};

int replay(DeadLetterReader& reader, const DlqArguments& arguments, const Settings& settings) {
  std::optional<Poster> poster;
  if (!arguments.to.empty()) {
    const auto url = target(arguments.to, settings);
    if (!url) return fail(url.error().message);
    poster.emplace(*url);
  }
  std::uint64_t given = 0, left = 0;
  while (const auto letter = reader.next()) {
    if (!wanted(*letter, arguments)) continue;
    std::string why;
    const auto event = one_event(*letter, why);
    if (!event) {
      ++left;
      std::cerr << "cepd dlq: " << letter->number << " is left out: " << why << "\n";
      continue;
    }
    ++given;
    if (!poster) {
      std::cout << *event << "\n";
    } else if (const Status posted = poster->add(*event, letter->number); !posted) {
      return fail(posted.error().message);
    }
  }
  if (poster) {
    if (const Status posted = poster->flush(); !posted) return fail(posted.error().message);
  }
  note_skipped(reader);
  std::cerr << given << " events given, " << left << " left out\n";
  return left == 0 ? kGood : kFailed;
}

}  // namespace

int dlq_command(const DlqArguments& arguments) {
  Diagnostics diagnostics;
  const Settings settings = load_settings(arguments.config, diagnostics);
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return kFailed;
  const std::string option = arguments.late ? "late" : "dead_letter";
  const std::string& path = settings.daemon.text(option);
  if (path.empty()) return fail(arguments.config + " says no daemon." + option + ": nothing is kept");
  DeadLetterReader reader(path, arguments.after);
  if (arguments.what == "list") return list(reader, arguments);
  if (arguments.what == "show") return show(reader, arguments);
  return replay(reader, arguments, settings);
}

}  // namespace cepd::app
