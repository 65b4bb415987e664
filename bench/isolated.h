#pragma once
#include <functional>

#include "bench/workloads.h"

namespace cepd::bench {

/// Does `work` in a process of its own, so that what ran before has no part in it: pools and heap are as in a fresh
/// program, and memory can be told. Lines that it adds to its report are in this one afterwards. Returns what `work`
/// does; 0 when the process died, which the report then tells under this name.
/// Requires that this process has one thread.
double isolated(const Context& context, const std::string& workload, const std::string& variant,
                const std::function<double(const Context&)>& work);

}  // namespace cepd::bench
