#pragma once
#include <chrono>
#include <string>

#include "clients/server_address.h"

namespace cepd::clients {

/// Whether somebody accepts connections there, for libraries whose own connecting has no time limit. Empty: yes; or why
/// not, for a person. Tries each of its addresses, all together for `limit` (beside the look-up of the name).
std::string reach(const ServerAddress& server, std::chrono::milliseconds limit);

}  // namespace cepd::clients
