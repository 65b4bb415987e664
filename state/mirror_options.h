#pragma once
/// `mirror:` in the configuration.

#include <memory>

#include "config/options.h"
#include "state/mirror.h"
#include "state/mirror_store.h"

namespace cepd::state {

const config::OptionTable& mirror_option_table();
/// What is wrong beyond single values.
void check_mirror(const config::Node* section, const config::Options& options, Diagnostics& diagnostics);

/// The configuration names a mirror.
bool has_mirror(const config::Options& options);
/// Connects with the first call. Requires has_mirror(), and options that were checked.
std::unique_ptr<MirrorStore> open_mirror(const config::Options& options);
MirrorOptions mirror_options(const config::Options& options);

}  // namespace cepd::state
