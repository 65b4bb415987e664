#pragma once
#include <memory>
#include <string>

#include "clients/redis_client.h"
#include "state/mirror_store.h"

namespace cepd::state {

/// Keeps a mirror in a Redis server under `{cepd:INSTANCE}:…`, one slot where keys are spread over a cluster.
std::unique_ptr<MirrorStore> open_redis_store(clients::RedisOptions options, const std::string& instance);

}  // namespace cepd::state
