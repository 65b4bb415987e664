#pragma once
/// Configuration text as a tree that remembers where each value stands. Hides yaml-cpp.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"

namespace cepd::config {

/// The text of one YAML file, for messages.
struct Origin {
  std::string file;
  std::string text;
};

class Node {
 public:
  enum class Kind : unsigned char { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  std::string scalar;                                ///< of a kScalar, after ${env:…} and ${file:…} were filled in
  bool from_secret = false;                          ///< scalar came from ${env:…} or ${file:…}: never printed
  std::vector<Node> items;                           ///< of a kSequence
  std::vector<std::pair<std::string, Node>> fields;  ///< of a kMap, in the order written; repeated keys are refused at load
  unsigned line = 1, column = 1;                     ///< of the value (a map's field: of its key), from 1
  std::shared_ptr<const Origin> origin;

  const Node* find(std::string_view key) const;

  /// A message that points at this node.
  Diagnostic problem(Severity severity, std::string message, std::string suggestion = {}) const;
};

/// Parses YAML text. Syntax errors, repeated keys, unset environment variables and unreadable secret files are added to `diagnostics`.
Node parse_yaml(std::string file, std::string text, Diagnostics& diagnostics);

/// Reads and parses the file; a file that cannot be read is a diagnostic too.
Node load_yaml(const std::string& file, Diagnostics& diagnostics);

}  // namespace cepd::config
