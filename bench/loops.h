#pragma once
/// Each rule once more as a loop written by hand for it alone: the practical limit of speed, and the number of matches
/// that the engine must reproduce. Simple code with the standard library's containers, no tricks.
/// All count the matches that the first `rows` bring.

#include <cstdint>
#include <span>

#include "bench/generators.h"

namespace cepd::bench {

using Rows = std::span<const Row>;

enum class Policy : std::uint8_t { kConsume, kNoSkip };

/// cart_add THEN payment_fail WITHIN 5m
std::uint64_t loop_w1(Rows rows, Policy policy);
/// For each of `rules` rules i: cart_add[item = i mod 10,000] THEN payment_fail[price > 37 i mod 150] WITHIN 5m, NO
/// SKIP.
std::uint64_t loop_w2(Rows rows, std::uint32_t rules);
/// tick NEXT tick[price > prev(price)]+ CONSECUTIVE NEXT tick[price < prev(price)] WITHIN 1m; `or_equal`: <= in the
/// last.
std::uint64_t loop_w3(Rows rows, Policy policy, bool or_equal);
/// A THEN ANY B THEN ANY C WITHIN d.
std::uint64_t loop_w4(Rows rows, Policy policy, std::int64_t within_ms);
/// open THEN step THEN close WITHIN d, NO SKIP.
std::uint64_t loop_w5(Rows rows, std::int64_t within_ms);
/// order AS o THEN payment[order_id = o.order_id] WITHIN 1h, NO SKIP.
std::uint64_t loop_w6(Rows rows);
std::uint64_t loop_w6_limits(Rows rows);
/// tick[volume > 500] AS spike THEN tick[price > coalesce(avg(up.price), spike.price)]+ AS up
/// THEN tick[price < spike.price] WITHIN 5m HAVING sum(up.volume) > 1000 AND count(up) >= 2, NO SKIP.
std::uint64_t loop_w7(Rows rows);

}  // namespace cepd::bench
