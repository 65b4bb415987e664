#pragma once
/// Change events of Debezium (JSON converter, with or without schemas) as events.

#include <optional>
#include <string>
#include <string_view>

namespace cepd::adapters {

/// {"before":…,"after":…,"op":…,"ts_ms":…,"source":…}, also under "payload": the members of the row after the change
/// (before it, where op is "d"), then "__op", "__ts_ms" (of the source's change; else of Debezium's reading it) and,
/// where there is one, "__before". Nothing when it is no such envelope.
std::optional<std::string> debezium_event(std::string_view envelope);

}  // namespace cepd::adapters
