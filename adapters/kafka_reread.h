#pragma once
/// Records that were taken before a crash, once more: outside the consumer group, each partition at the pace in which
/// the journal asks for it.

#include <memory>

#include "adapters/kafka_options.h"
#include "adapters/source.h"

namespace cepd::adapters {

/// Errors: kInvalidArgument for what the client library refuses. While the brokers are away next() waits, and logs it.
Result<std::unique_ptr<Rereader>> kafka_rereader(const SourceId& source, const KafkaOptions& options,
                                                 const Positions& taken);

}  // namespace cepd::adapters
