#include <benchmark/benchmark.h>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/value.h"

namespace cepd::bench {
namespace {

Value user(std::string& text, std::int64_t i) {
  text = "u" + std::to_string(i);
  return Value::string(text);
}

void canonical_key(benchmark::State& state) {
  std::string text, out;
  const Value value = user(text, 12'345);
  for (auto _ : state) {
    out.clear();
    append_canonical(out, value);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(canonical_key);

void hash_key(benchmark::State& state) {
  std::string text;
  const Value value = user(text, 12'345);
  for (auto _ : state) benchmark::DoNotOptimize(hash_value(value));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(hash_key);

/// Canonical form and look-up among so many keys, in no order that a cache would know.
void find_key(benchmark::State& state) {
  const std::int64_t keys = state.range(0);
  boost::unordered_flat_map<std::string, std::int64_t> table;
  std::vector<std::string> texts(static_cast<std::size_t>(keys));
  std::string key;
  for (std::int64_t i = 0; i < keys; ++i) {
    key.clear();
    append_canonical(key, user(texts[static_cast<std::size_t>(i)], i));
    table.emplace(key, i);
  }
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  std::uint64_t at = 0;
  for (auto _ : state) {
    at += kStep;
    key.clear();
    append_canonical(key, Value::string(texts[at % static_cast<std::uint64_t>(keys)]));
    benchmark::DoNotOptimize(table.find(key));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_key)->Arg(100)->Arg(10'000)->Arg(1'000'000);

}  // namespace
}  // namespace cepd::bench
