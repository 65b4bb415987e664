#include "nfa/chain_text.h"

#include <map>

namespace cepd::nfa {
namespace {

namespace plan = dsl::plan;

/// Names of rules, the first few of them; how many there are besides.
class RuleNames {
 public:
  void add(const plan::Rule& rule) {
    if (++count_ > kMost) return;
    text_ += (count_ == 1 ? "" : ", ") + quoted_if_needed(rule.name);
  }
  bool empty() const { return count_ == 0; }
  std::string text() const {
    return count_ > kMost ? text_ + " and " + std::to_string(count_ - kMost) + " more" : text_;
  }

 private:
  static constexpr std::size_t kMost = 24;
  std::string text_;
  std::size_t count_ = 0;
};

std::string makes_text(const Network& network, TypeId type, const char* title, bool shadow) {
  RuleNames readers;
  for (const RuleInput& input : network.derived_inputs(type)) {
    const plan::Rule& reader = network.rules().rules[input.rule];
    if (!shadow || reader.status == plan::Status::kShadow) readers.add(reader);
  }
  return std::string(title) + quoted_if_needed(network.fields().type(type).name) +
         (readers.empty() ? ", read by no rule" : ", read by " + readers.text()) + "\n";
}

/// What the rule reads and rules make, by the types' names.
std::map<std::string, std::string> reads_text(const Network& network, const plan::Rule& rule) {
  const bool shadow = rule.status == plan::Status::kShadow;
  std::map<std::string, std::string> out;
  const auto add = [&](const plan::Types& types) {
    for (const TypeId type : types.ids) {
      const auto [line, added] = out.try_emplace(quoted_if_needed(network.fields().type(type).name));
      if (!added) continue;
      RuleNames makers;
      for (const std::uint32_t index : network.makers(type)) {
        const plan::Rule& maker = network.rules().rules[index];
        if (shadow || maker.status != plan::Status::kShadow) makers.add(maker);
      }
      if (!makers.empty()) line->second = "  reads         " + line->first + ", made by " + makers.text() + "\n";
    }
  };
  for (const plan::Element& element : rule.elements) add(element.test.types);
  for (const plan::EventTest& test : rule.unless) add(test.types);
  if (rule.from) {
    for (const plan::EventTest& test : *rule.from) add(test.types);
  }
  return out;
}

}  // namespace

std::string chain_text(const Network& network, std::size_t index) {
  const plan::Rule& rule = network.rules().rules[index];
  const bool shadow = rule.status == plan::Status::kShadow;
  std::string out = "  level         " + std::to_string(rule.level) + "\n";
  for (const auto& [type, line] : reads_text(network, rule)) out += line;
  if (rule.into) out += makes_text(network, *rule.into, "  makes         ", shadow);
  if (rule.on_timeout && rule.on_timeout->into) {
    out += makes_text(network, *rule.on_timeout->into, "  on time-out   ", shadow);
  }
  return out;
}

}  // namespace cepd::nfa
