#include "dsl/known_mistakes.h"

namespace cepd::dsl::syntax {
bool report_known_mistake(const Progress&, std::string_view, Problems&) { return false; }
}  // namespace cepd::dsl::syntax
