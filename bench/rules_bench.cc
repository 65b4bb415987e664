#include <benchmark/benchmark.h>

#include "bench/workloads.h"
#include "dsl/check.h"
#include "dsl/parse.h"

namespace cepd::bench {
namespace {

// Of W2; times are of all of the rules.

std::vector<dsl::ast::File> parsed(std::int64_t rules) {
  std::vector<dsl::ast::File> out;
  for (std::string& text : w2_files(static_cast<std::uint32_t>(rules))) {
    out.push_back(dsl::parse("w2.rules", std::move(text)).file);
  }
  return out;
}

void parse_rules(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parsed(state.range(0)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(parse_rules)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

void check_rules(benchmark::State& state) {
  const auto files = parsed(state.range(0));
  const dsl::CheckOptions options{{ActionSchema{"log", {{"message", ArgumentType::kText, true, {}, {}, ""}}, false}}};
  for (auto _ : state) benchmark::DoNotOptimize(dsl::check(files, options, nullptr));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(check_rules)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

void compile_rules(benchmark::State& state) {
  const auto rules = load(w2_files(static_cast<std::uint32_t>(state.range(0)))).network;
  const std::shared_ptr<const dsl::RuleSet> set(rules, &rules->rules());
  for (auto _ : state) benchmark::DoNotOptimize(nfa::Network::compile(set));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(compile_rules)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cepd::bench
