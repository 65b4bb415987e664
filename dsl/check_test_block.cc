#include "dsl/check_test_block.h"

#include <algorithm>
#include <map>

namespace cepd::dsl::checking {
namespace {

/// Times as input has them (RFC 3339) or as output has them (milliseconds).
enum class Form : std::uint8_t { kInput, kOutput };

class TestChecker {
 public:
  TestChecker(const ast::Test& test, SetContext& set, Reporter& report) : test_(test), set_(set), report_(report) {}

  plan::Test check() {
    plan::Test out;
    out.name = test_.name.text;
    out.rule = test_.rule.text;
    out.file = report_.file();
    out.line = report_.line(test_.name.where);
    if (test_.max_delay)
      out.max_delay = set_.duration_or_zero(*test_.max_delay, "MAX DELAY", report_).value_or(Micros(0));
    find_rule();
    for (const ast::TestStage& stage : test_.stages) {
      plan::Stage& made = out.stages.emplace_back();
      for (const auto& given : stage.given) {
        if (const auto* event = std::get_if<ast::GivenEvent>(&given)) {
          given_event(*event, made);
        } else {
          made.given.push_back({true, std::get<ast::GivenWatermark>(given).at.value, {}, {}});
        }
      }
      for (const ast::Expected& expected : stage.expected) expect(expected, made);
    }
    return out;
  }

 private:
  void find_rule() {
    const auto it = set_.rules.find(test_.rule.text);
    if (it == set_.rules.end()) {
      if (set_.unread.more_rules || set_.unread.rules.count(test_.rule.text) != 0) return;
      std::vector<std::string> names;
      if (!report_.full()) {
        for (const auto& [name, note] : set_.rules) names.push_back(name);
      }
      report_.error(test_.rule.where, "unknown rule " + test_.rule.text, did_you_mean(test_.rule.text, names));
    } else if (it->second.disabled) {
      report_.error(test_.rule.where, "the rule " + test_.rule.text + " is DISABLED and never matches");
    } else {
      rule_ = &it->second;
    }
  }

  void given_event(const ast::GivenEvent& event, plan::Stage& stage) {
    set_.known_type(event.type, report_);
    const std::string fields = object_text(event.fields, Form::kInput);
    if (event.times == 0) report_.error(event.where, "TIMES needs a number of at least 1");
    Micros every{0};
    if (event.every) every = set_.duration_or_zero(*event.every, "EVERY", report_).value_or(Micros(0));
    // Compared without an overflow, whatever TIMES says.
    if (event.times > kMaxTestEvents - std::min(kMaxTestEvents, events_)) {
      report_.error(event.where, "a TEST has at most " + std::to_string(kMaxTestEvents) + " events");
      return;
    }
    const std::uint64_t bytes = event.times * (sizeof(plan::Given) + event.type.text.size() + fields.size());
    if (bytes > kMaxTestBytes - std::min(kMaxTestBytes, set_.test_bytes)) {
      report_.error(event.where, "the events of all TESTs together take at most " +
                                     std::to_string(kMaxTestBytes >> 20) + " MB of memory");
      return;
    }
    set_.test_bytes += bytes;
    events_ += event.times;
    EventTime at = event.at.value;
    for (std::uint64_t i = 0; i < event.times; ++i) {
      stage.given.push_back({false, at, event.type.text, fields});
      at = saturating_add(at, every);
    }
  }

  void expect(const ast::Expected& expected, plan::Stage& stage) {
    if (expected.kind == ast::ExpectKind::kWindow) {
      report_.error(expected.where, "EXPECT WINDOW is not supported yet");
      return;
    }
    plan::Expected out;
    const bool timeout = expected.kind == ast::ExpectKind::kTimeout;
    out.kind = timeout ? MatchKind::kTimeout : MatchKind::kMatch;
    if (expected.at) out.at = expected.at->value;
    out.text = std::string(report_.text_at(expected.where));
    if (rule_ != nullptr && rule_->sound && timeout && !rule_->has_timeout) {
      report_.error(expected.where, "the rule " + test_.rule.text + " has no ON TIMEOUT and reports none");
    } else if (rule_ != nullptr && rule_->sound) {
      const auto& names = timeout ? rule_->emitted_on_timeout : rule_->emitted;
      for (const auto& [name, value] : expected.fields.fields) {
        if (std::find(names.begin(), names.end(), name.text) == names.end()) {
          report_.error(name.where, "the rule " + test_.rule.text + " emits no " + name.text,
                        report_.full() ? std::string{} : did_you_mean(name.text, names));
        }
      }
    }
    for (const auto& [name, value] : expected.fields.fields) {
      const auto same = [&called = name.text](const auto& field) { return field.first == called; };
      if (std::any_of(out.fields.begin(), out.fields.end(), same)) {
        report_.error(name.where, name.text + " is expected twice");
      }
      out.fields.emplace_back(name.text, value_text(value, Form::kOutput));
    }
    stage.expected.push_back(std::move(out));
  }

  // ---- canonical JSON: keys sorted by bytes, the last of repeated ones, no spaces ----

  std::string object_text(const ast::TestObject& object, Form form) {
    std::map<std::string, std::string> fields;
    for (const auto& [name, value] : object.fields) fields[name.text] = value_text(value, form);
    std::string out = "{";
    for (const auto& [name, text] : fields) {
      if (out.size() > 1) out += ',';
      append_json_string(out, name);
      out += ':' + text;
    }
    return out + "}";
  }

  std::string list_text(const ast::TestList& list, Form form) {
    std::string out = "[";
    for (const ast::TestValue& value : list.values) {
      if (out.size() > 1) out += ',';
      out += value_text(value, form);
    }
    return out + "]";
  }

  std::string value_text(const ast::TestValue& value, Form form) {
    if (const auto* object = std::get_if<ast::TestObject>(&value.node)) return object_text(*object, form);
    if (const auto* list = std::get_if<ast::TestList>(&value.node)) return list_text(*list, form);
    const ast::Literal* literal = std::get_if<ast::Literal>(&value.node);
    if (const auto* ref = std::get_if<ast::ConstantRef>(&value.node)) {
      literal = set_.constant(ref->name, value.where, report_);
    }
    if (literal == nullptr) return "null";
    const plan::Constant constant = constant_of(*literal);
    std::string out;
    if (form == Form::kInput && constant.kind == Kind::kTimestamp) {
      append_json_string(out, format_rfc3339(constant.scalar.as_time()));
    } else if (form == Form::kInput && constant.kind == Kind::kDuration) {
      append_json_string(out, format_duration(constant.scalar.as_duration()));
    } else {
      append_json(out, constant.value());
    }
    return out;
  }

  const ast::Test& test_;
  SetContext& set_;
  Reporter& report_;
  const RuleNote* rule_ = nullptr;  // null when it is not there or not to be tested
  std::uint64_t events_ = 0;
};

}  // namespace

plan::Test check_test(const ast::Test& test, SetContext& set, Reporter& report) {
  return TestChecker(test, set, report).check();
}

}  // namespace cepd::dsl::checking
