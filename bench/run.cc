/// bench_run: see bench/README.md.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>

#include "base/value.h"
#include "bench/workloads.h"

namespace cepd::bench {

namespace {

constexpr std::size_t kQuickEvents = 20'000;

struct KnownStream {
  const char* name;
  Stream (*make)(std::size_t events, std::uint64_t seed);
  std::uint64_t seed;
  std::uint64_t hash;  ///< of its first thousand lines
};
/// Those that other engines are measured on.
constexpr KnownStream kKnownStreams[] = {
    {"checkout", checkout::stream, checkout::kSeed, 0xbbdb17657a809dc2},
    {"ticks", ticks::stream, ticks::kSeed, 0x3cbfbfdd9920eb69},
    {"abc", abc::stream, abc::kSeed, 0xce3efedfbc59724e},
};

int print_stream(const std::string& name, std::size_t events) {
  for (const KnownStream& each : kKnownStreams) {
    if (name == each.name) std::cout << lines_of(each.make(events, each.seed)).text();
  }
  return 0;
}

/// A generator that has changed would make all figures incomparable with earlier ones.
bool streams_are_known() {
  bool good = true;
  for (const KnownStream& each : kKnownStreams) {
    const Lines lines = lines_of(each.make(1'000, each.seed));
    const std::uint64_t hash = hash_value(Value::string(lines.text()));
    if (hash == each.hash) continue;
    std::cerr << "bench_run: the stream " << each.name << " is not what it was: " << std::hex << hash << "\n";
    good = false;
  }
  return good;
}

std::string text_of(const Options& options) {
  return std::to_string(options.events) + " events, " + std::to_string(options.lanes) + " lanes, " +
         std::to_string(options.repeat) + " repetitions, limits " + std::to_string(static_cast<int>(options.limit_s)) +
         " s and " + std::to_string(options.memory_limit_mb) + " MB";
}

int run(const Options& options) {
  if (!streams_are_known()) return 1;
  const About about = bench::about(text_of(options));
  print_heading(about);
  Report report;
  for (const Workload& workload : workloads()) {
    const auto& wanted = options.workloads;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), workload.name) == wanted.end()) continue;
    workload.run({options, report});
  }
  if (!options.json.empty() && !(std::ofstream(options.json) << to_json(about, report))) {
    std::cerr << "bench_run: cannot write " << options.json << "\n";
    return 1;
  }
  if (!report.right()) {
    std::cerr << "bench_run: not all is right\n";
    return 1;
  }
  if (options.peers.empty()) return 0;
  execlp("python3", "python3", "-B", CEPD_SOURCE_DIR "/bench/peers.py", options.json.c_str(), options.peers.c_str(),
         nullptr);
  std::cerr << "bench_run: cannot run python3\n";
  return 1;
}

}  // namespace
}  // namespace cepd::bench

int main(int argc, char** argv) {
  using namespace cepd::bench;
  Options options;
  std::string stream;
  std::vector<std::string> names;
  std::string list;
  for (const Workload& workload : workloads()) {
    names.push_back(workload.name);
    list += "\n  " + workload.name + "  " + workload.about;
  }
  CLI::App app("The benchmarks of cepd. Workloads:" + list, "bench_run");
  app.add_option("--workload", options.workloads, "which, with commas between; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_flag("--quick", options.quick, "small sizes, once: only that all run and count right");
  app.add_option("--lanes", options.lanes, "threads of the engine")->check(CLI::Range(1, 64));
  app.add_option("--repeat", options.repeat, "runs of each; median, least and most are told")
      ->check(CLI::Range(1, 100));
  app.add_option("--limit", options.limit_s, "most seconds for one run; after it the rate so far counts");
  app.add_option("--memory-limit", options.memory_limit_mb, "most MB that one run may take");
  const auto* events = app.add_option("--events", options.events, "length of the streams");
  auto* json = app.add_option("--json", options.json, "writes the results to this file");
  app.add_option("--peers", options.peers, "then runs other engines on the same rules: esper,flink,siddhi")
      ->needs(json);
  app.add_option("--stream", stream, "prints a stream as JSON lines and ends")
      ->check(CLI::IsMember({"checkout", "ticks", "abc"}));
  CLI11_PARSE(app, argc, argv);
  if (options.quick) {
    options.repeat = 1;
    if (events->count() == 0) options.events = kQuickEvents;
  }
  return stream.empty() ? run(options) : print_stream(stream, options.events);
}
