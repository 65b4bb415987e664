// parse_yaml and load_yaml: yaml-cpp's events become a tree of Node. Its own tree is not used, since that unfolds
// aliases without a bound and keeps no places of keys.

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

#include "config/fill_in.h"
#include "config/node.h"

namespace cepd::config {
namespace {

struct Place {
  unsigned line = 1, column = 1;
};

/// Turns yaml-cpp's marks (lines and bytes, from 0) into lines and code points from 1.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text), first_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {
    starts_.push_back(first_);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }

  Place of(const YAML::Mark& mark) const {
    if (mark.is_null()) return {};
    const std::size_t line = std::min(static_cast<std::size_t>(std::max(mark.line, 0)), starts_.size() - 1);
    const std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] : text_.size();
    const std::string_view before =
        text_.substr(starts_[line], std::min(static_cast<std::size_t>(std::max(mark.column, 0)), end - starts_[line]));
    const auto code_points = std::ranges::count_if(before, [](char c) { return (c & 0xC0) != 0x80; });
    return {static_cast<unsigned>(line) + 1, static_cast<unsigned>(code_points) + 1};
  }

 private:
  std::string_view text_;
  std::size_t first_;  // bytes of the byte order mark, which yaml-cpp does not count
  std::vector<std::size_t> starts_;
};

/// Nodes and bytes of a tree, for the bounds.
struct Size {
  std::size_t nodes = 0, bytes = 0, depth = 0;
};

Size size_of(const Node& node) {
  Size size{1, node.scalar.size(), 1};
  const auto add = [&](const Node& child, std::size_t key_bytes) {
    const Size more = size_of(child);
    size.nodes += more.nodes;
    size.bytes += more.bytes + key_bytes;
    size.depth = std::max(size.depth, more.depth + 1);
  };
  for (const Node& item : node.items) add(item, 0);
  for (const auto& [key, value] : node.fields) add(value, key.size());
  return size;
}

/// Builds the tree. What the handler itself refuses is thrown as yaml-cpp's own exception, and like all of them caught
/// in parse_yaml.
class Builder final : public YAML::EventHandler {
 public:
  Builder(std::shared_ptr<const Origin> origin, Diagnostics& diagnostics)
      : origin_(std::move(origin)),
        places_(origin_->text),
        directory_(std::filesystem::path(origin_->file).parent_path().string()),
        diagnostics_(diagnostics) {
    root_.origin = origin_;
  }

  Node take() { return std::move(root_); }
  const Places& places() const { return places_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_as_key(mark);
    count(mark, {1, 0, 1});
    add(node_at(mark, Node::Kind::kNull), anchor, mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    count(mark, {expects_key() ? 0U : 1U, value.size(), 1});
    if (expects_key()) {
      stack_.back().key = value;
      stack_.back().key_place = places_.of(mark);
      stack_.back().has_key = true;
      return;
    }
    Node node = node_at(mark, Node::Kind::kScalar);
    if (auto filled = fill_in(value, directory_)) {
      if (filled->text.size() > value.size()) count(mark, {0, filled->text.size() - value.size(), 1});
      node.scalar = std::move(filled->text);
      node.from_secret = filled->from_secret;
    } else {
      diagnostics_.push_back(node.value_problem(Severity::kError, std::move(filled).error().message));
    }
    add(std::move(node), anchor, mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_as_key(mark);
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias cannot stand inside of what it stands for");
    count(mark, size_of(found->second));
    Node node = found->second;
    const Place place = places_.of(mark);
    node.line = node.value_line = place.line;
    node.column = node.value_column = place.column;
    add(std::move(node), 0, mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::kMap);
  }
  void OnMapEnd() override {
    report_repeated_keys(stack_.back().node);
    close();
  }

 private:
  /// A map or sequence that is not complete yet.
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    bool has_key = false;  // the key of the next value was read
    std::string key;
    Place key_place;
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& message) {
    throw YAML::ParserException(mark, message);
  }

  bool expects_key() const {
    return !stack_.empty() && stack_.back().node.kind == Node::Kind::kMap && !stack_.back().has_key;
  }

  void refuse_as_key(const YAML::Mark& mark) const {
    if (expects_key()) refuse(mark, "expected a plain name as key");
  }

  static void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!" && !tag.starts_with("tag:yaml.org,2002:"))
      refuse(mark, "unknown tag " + tag);
  }

  void count(const YAML::Mark& mark, const Size& size) {
    nodes_ += size.nodes;
    bytes_ += size.bytes;
    if (nodes_ > kMaxNodes)
      refuse(mark, "more than " + std::to_string(kMaxNodes) + " values in one file, aliases counted in full");
    if (bytes_ > kMaxScalarBytes)
      refuse(mark, "more than " + std::to_string(kMaxScalarBytes) + " bytes of values, aliases counted in full");
    if (stack_.size() + size.depth > kMaxDepth)
      refuse(mark, "nested more than " + std::to_string(kMaxDepth) + " levels deep");
  }

  Node node_at(const YAML::Mark& mark, Node::Kind kind) const {
    Node node;
    node.kind = kind;
    node.origin = origin_;
    const Place place = places_.of(mark);
    node.line = node.value_line = place.line;
    node.column = node.value_column = place.column;
    return node;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    refuse_as_key(mark);
    check_tag(mark, tag);
    count(mark, {1, 0, 1});
    stack_.push_back(
        {.node = node_at(mark, kind), .anchor = anchor, .mark = mark, .has_key = false, .key = {}, .key_place = {}});
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(frame.node), frame.anchor, frame.mark);
  }

  void add(Node node, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (anchor != 0) {
      count(mark, size_of(node));  // the copy kept for aliases takes memory too
      anchors_.insert_or_assign(anchor, node);
    }
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.kind == Node::Kind::kSequence) {
      frame.node.items.push_back(std::move(node));
      return;
    }
    node.line = frame.key_place.line;
    node.column = frame.key_place.column;
    frame.node.fields.push_back({std::move(frame.key), std::move(node)});
    frame.has_key = false;
  }

  void report_repeated_keys(const Node& map) {
    std::unordered_map<std::string_view, const Node*> seen;
    for (const auto& [key, value] : map.fields) {
      const auto [first, is_new] = seen.emplace(key, &value);
      if (is_new) continue;
      diagnostics_.push_back(value.problem(Severity::kError, "repeated key " + key,
                                           "it stands on line " + std::to_string(first->second->line) + " already"));
    }
  }

  std::shared_ptr<const Origin> origin_;
  Places places_;
  std::string directory_;
  Diagnostics& diagnostics_;
  Node root_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t nodes_ = 0, bytes_ = 0;
};

/// A second document, noticed at its start.
class NoMoreDocuments final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    throw YAML::ParserException(mark, "expected one document in the file, this is a second one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// Byte offset of a character that YAML does not allow (yaml-cpp takes some of them for the end of the file).
std::size_t find_control_character(std::string_view text) {
  const auto it = std::ranges::find_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
  });
  return it == text.end() ? std::string_view::npos : static_cast<std::size_t>(it - text.begin());
}

}  // namespace

Node parse_yaml(std::string file, std::string text, Diagnostics& diagnostics) {
  const auto origin = std::make_shared<const Origin>(Origin{std::move(file), std::move(text)});
  Node empty;
  empty.origin = origin;
  if (origin->text.size() > kMaxFileBytes) {
    diagnostics.push_back(
        empty.problem(Severity::kError, "the file has more than " + std::to_string(kMaxFileBytes) + " bytes"));
    return empty;
  }
  if (const std::size_t at = find_control_character(origin->text); at != std::string_view::npos) {
    diagnostics.push_back(diagnostic_at(Severity::kError, origin->file, origin->text, at, at + 1,
                                        "a control character cannot stand in a YAML file"));
    return empty;
  }
  Builder builder(origin, diagnostics);
  try {
    std::istringstream stream(origin->text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    NoMoreDocuments no_more;
    parser.HandleNextDocument(no_more);
  } catch (const YAML::Exception& e) {
    const Place place = builder.places().of(e.mark);
    empty.line = place.line;
    empty.column = place.column;
    diagnostics.push_back(empty.problem(Severity::kError, e.msg));
    return empty;
  }
  return builder.take();
}

Node load_yaml(const std::string& file, Diagnostics& diagnostics) {
  auto text = read_file(file, kMaxFileBytes);
  if (text) return parse_yaml(file, std::move(*text), diagnostics);
  Node empty;
  empty.origin = std::make_shared<const Origin>(Origin{file, {}});
  diagnostics.push_back(empty.problem(Severity::kError, std::move(text).error().message));
  return empty;
}

}  // namespace cepd::config
