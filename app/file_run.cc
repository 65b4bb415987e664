#include "app/file_run.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "app/rule_messages.h"

namespace cepd::app {
namespace {

/// Not the file's name: a match keeps its id when the file moves.
const SourceId& input_source() {
  static const SourceId source("input");
  return source;
}

}  // namespace

std::optional<InputOptions> read_options(const std::string& command, const InputArguments& arguments) {
  bool good = true;
  const auto refuse = [&](const char* what) {
    std::cerr << "cepd " << command << ": " << what << "\n";
    good = false;
  };
  InputOptions options;
  options.sort = arguments.sort;
  if (const auto unit = parse_time_unit(arguments.time_unit)) {
    options.decoding.time_unit = *unit;
  } else {
    refuse("--time-unit is one of s, ms, us, ns");
  }
  if (const auto delay = parse_duration(arguments.max_delay)) {
    options.max_delay = *delay;
  } else {
    refuse("--max-delay is a duration such as 5s or 1m30s");
  }
  if (!arguments.state_ttl.empty()) {
    const auto ttl = parse_duration(arguments.state_ttl);
    if (!ttl) refuse("--state-ttl is a duration such as 7d");
    if (ttl && ttl->count() > 0) options.engine.state_ttl = ttl;
  }
  if (const auto path = field_path_of(arguments.type_field)) {
    options.decoding.type_field = *path;
  } else {
    refuse("--type-field is a field such as type or payload.kind");
  }
  if (const auto path = field_path_of(arguments.time_field)) {
    options.decoding.time_field = *path;
  } else {
    refuse("--time-field is a field such as ts or payload.time");
  }
  if (!good) return std::nullopt;
  return options;
}

bool for_each_line(const std::string& command, const std::string& input,
                   const std::function<void(const adapters::Message&)>& take) {
  std::ifstream file;
  if (input != "-") {
    file.open(input, std::ios::binary);
    std::error_code unknown;
    if (std::filesystem::is_directory(input, unknown)) {
      std::cerr << "cepd " << command << ": " << input << " is a directory, expected a file of JSON lines\n";
      return false;
    }
    if (!file) {
      std::cerr << "cepd " << command << ": cannot read " << input << ": " << std::strerror(errno) << "\n";
      return false;
    }
  }
  std::istream& in = input == "-" ? std::cin : file;
  adapters::Message message;
  for (std::int64_t line = 0; std::getline(in, message.bytes); ++line) {
    if (!message.bytes.empty() && message.bytes.back() == '\r') message.bytes.pop_back();
    if (message.bytes.find_first_not_of(" \t") == std::string::npos) continue;
    message.position = {input_source(), 0, line};
    take(message);
  }
  if (!in.bad()) return true;
  std::cerr << "cepd " << command << ": cannot read " << input << ": " << std::strerror(errno) << "\n";
  return false;
}

void BadLines::note(std::int64_t line, const adapters::DecodeError& error) {
  constexpr std::uint64_t kMostShown = 20;
  if (++count_ <= kMostShown) {
    std::cerr << input_ << ":" << line + 1 << ": " << drop_reason_name(error.reason) << ": " << error.detail << "\n";
  } else if (count_ == kMostShown + 1) {
    std::cerr << "further bad lines are only counted\n";
  }
}

FileRun::FileRun(std::shared_ptr<const nfa::Network> network, const InputOptions& options, Handlers handlers)
    : network_(std::move(network)),
      sort_(options.sort),
      handlers_(std::move(handlers)),
      decoder_(options.decoding),
      engine_(network_, options.engine,
              {[this](const engine::MatchView& match) { handlers_.match(match.take()); },
               [this](const Event& event, DropReason, std::string_view) { handlers_.late(event); }}) {
  engine_.set_max_delay(input_source(), options.max_delay);
}

void FileRun::take(const adapters::Message& message) {
  auto decoded = decoder_.decode(message, network_->fields());
  if (const auto* error = std::get_if<adapters::DecodeError>(&decoded)) {
    handlers_.bad(message.position.offset, *error);
    return;
  }
  auto& event = std::get<EventPtr>(decoded);
  if (handlers_.decoded) handlers_.decoded(*event);
  if (sort_) {
    to_sort_.push_back(std::move(event));
  } else {
    engine_.push(std::move(event));
  }
}

void FileRun::finish() {
  std::stable_sort(to_sort_.begin(), to_sort_.end(), [](const auto& a, const auto& b) { return a->time < b->time; });
  for (EventPtr& event : to_sort_) engine_.push(std::move(event));
  to_sort_.clear();
  engine_.finish();
}

}  // namespace cepd::app
