#include "bench/report.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <thread>

#include "base/value.h"

namespace cepd::bench {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

std::string kernel() {
  utsname name{};
  uname(&name);
  return name.release;
}

/// 12,345,678; small numbers with the digits that matter.
std::string readable(double number) {
  char digits[64];
  if (number != 0 && number < 10) {
    std::snprintf(digits, sizeof digits, "%.3g", number);
    return digits;
  }
  std::snprintf(digits, sizeof digits, "%.0f", number);
  const std::string_view all = digits;
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && (all.size() - i) % 3 == 0) out += ',';
    out += all[i];
  }
  return out;
}

void print(const Result& result) {
  std::string spread, ratio;
  if (result.rate.max > result.rate.min) {
    spread = "(" + readable(result.rate.min) + " - " + readable(result.rate.max) + ")";
  }
  if (!result.base.empty()) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g x ", result.ratio);
    ratio = text + result.base;
  }
  std::string remark;
  if (result.wrong()) {
    remark = "WRONG, expected " + readable(static_cast<double>(*result.expected));
  } else if (result.expected) {
    remark = "right";
  }
  if (!result.stopped.empty()) remark += (remark.empty() ? "" : ", ") + std::string("stopped: ") + result.stopped;
  std::printf("%-6s %-28s %-8s %10s %13s %27s  %-22s %12s %s\n", result.workload.c_str(), result.variant.c_str(),
              result.mode.c_str(), readable(static_cast<double>(result.events)).c_str(),
              result.rate.median > 0 ? readable(result.rate.median).c_str() : "", spread.c_str(), ratio.c_str(),
              result.expected ? readable(static_cast<double>(result.matches)).c_str() : "", remark.c_str());
  std::string line;
  for (const auto& [name, value] : result.figures) line += (line.empty() ? "" : ", ") + name + " " + readable(value);
  if (!line.empty()) std::printf("      %s\n", line.c_str());
  std::fflush(stdout);
}

void append_text_field(std::string& out, std::string_view name, std::string_view value) {
  append_json_string(out, name);
  out += ':';
  append_json_string(out, value);
  out += ',';
}

void append_number_field(std::string& out, std::string_view name, double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  append_json_string(out, name);
  out += std::string(":") + digits + ',';
}

void append_count_field(std::string& out, std::string_view name, std::uint64_t value) {
  append_json_string(out, name);
  out += ':' + std::to_string(value) + ',';
}

std::string json_of(const Result& result) {
  std::string out = "{";
  append_text_field(out, "workload", result.workload);
  append_text_field(out, "rule", result.variant);
  append_text_field(out, "from", result.mode);
  append_count_field(out, "events", result.events);
  append_number_field(out, "rate", result.rate.median);
  append_number_field(out, "rate_min", result.rate.min);
  append_number_field(out, "rate_max", result.rate.max);
  if (!result.base.empty()) {
    append_text_field(out, "base", result.base);
    append_number_field(out, "ratio", result.ratio);
  }
  append_count_field(out, "matches", result.matches);
  if (result.expected) append_count_field(out, "expected", *result.expected);
  if (!result.stopped.empty()) append_text_field(out, "stopped", result.stopped);
  for (const auto& [name, value] : result.figures) append_number_field(out, name, value);
  out.back() = '}';
  return out;
}

}  // namespace

About about(std::string options) {
  return {{"date", today()},
          {"cpu", cpu_name()},
          {"cpus", std::to_string(std::thread::hardware_concurrency())},
          {"kernel", kernel()},
          {"compiler", "g++ " __VERSION__},
          {"options", std::move(options)}};
}

void print_heading(const About& about) {
  for (const auto& [name, value] : about) std::printf("%s: %s\n", name.c_str(), value.c_str());
  std::printf("%-6s %-28s %-8s %10s %13s %27s  %-22s %12s\n", "", "rule", "from", "events", "events/s", "(min - max)",
              "ratio to", "matches");
}

void Report::add(const Result& result) {
  print(result);
  add_lines(json_of(result), !result.wrong());
}

void Report::add_lines(const std::string& lines, bool right) {
  if (!lines.empty()) lines_ += (lines_.empty() ? "" : ",\n") + lines;
  right_ = right_ && right;
}

void Report::add_died(const std::string& workload, const std::string& variant) {
  Result result{workload, variant, "died"};
  result.stopped = "its process died";
  add(result);
  right_ = false;
}

std::string to_json(const About& about, const Report& report) {
  std::string out = "{";
  for (const auto& [name, value] : about) append_text_field(out, name, value);
  return out + "\"results\":[\n" + report.lines() + "\n]}\n";
}

}  // namespace cepd::bench
