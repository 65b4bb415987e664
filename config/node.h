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
  std::string scalar;        ///< of a kScalar, after ${env:…} and ${file:…} were filled in
  bool from_secret = false;  ///< scalar came from ${env:…} or ${file:…}: never printed
  std::vector<Node> items;   ///< of a kSequence
  struct Field;
  std::vector<Field> fields;                  ///< of a kMap, in the order written; repeated keys are refused at load
  unsigned line = 1, column = 1;              ///< of the value (a map's field: of its key), from 1
  unsigned value_line = 1, value_column = 1;  ///< of the value itself, also of a map's field
  std::shared_ptr<const Origin> origin;

  const Node* find(std::string_view key) const;

  /// A message that points at this node: at its key when it is a map's field.
  Diagnostic problem(Severity severity, std::string message, std::string suggestion = {}) const;

  /// A message that points at the value, for mistakes in what stands behind the key.
  Diagnostic value_problem(Severity severity, std::string message, std::string suggestion = {}) const;
};

/// A key and its value.
struct Node::Field {
  std::string first;
  Node second;
};

/// What a configuration file may hold at most. Aliases count with everything they stand for, so that a short file
/// cannot unfold into a large one.
inline constexpr std::size_t kMaxFileBytes = 4U << 20;
inline constexpr std::size_t kMaxNodes = 100'000;
inline constexpr std::size_t kMaxDepth = 50;
inline constexpr std::size_t kMaxScalarBytes = 16U << 20;  ///< of all scalars together

/// Parses YAML text: one document, keys are plain names. In scalars `${env:NAME}` and `${file:path}` stand for an
/// environment variable and the content of a file (without its last line ends; a relative path is taken from `file`'s
/// directory); `$${` is a plain `${`. Syntax errors, repeated keys, unset environment variables and unreadable secret
/// files are added to `diagnostics`; what is returned then is not the whole file.
Node parse_yaml(std::string file, std::string text, Diagnostics& diagnostics);

/// Reads and parses the file; a file that cannot be read is a diagnostic too.
Node load_yaml(const std::string& file, Diagnostics& diagnostics);

}  // namespace cepd::config
