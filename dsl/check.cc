#include "dsl/check.h"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

#include "dsl/check_chain.h"
#include "dsl/check_rule.h"
#include "dsl/check_test_block.h"
#include "dsl/check_warn_rules.h"
#include "dsl/print.h"

namespace cepd::dsl {
namespace {

using checking::Reporter;
using checking::SetContext;

class SetChecker {
 public:
  SetChecker(const std::vector<ast::File>& files, const CheckOptions& options, const FieldPlan* before)
      : files_(files),
        found_(files.size()),
        fields_(before == nullptr ? FieldPlan() : *before),
        set_(options, fields_) {
    fields_.begin_set();
    for (std::size_t i = 0; i < files.size(); ++i) {
      reporters_.emplace_back(files[i], found_[i]);
      const ast::Unread& unread = files[i].unread;
      set_.unread.types.insert(unread.types.begin(), unread.types.end());
      set_.unread.constants.insert(unread.constants.begin(), unread.constants.end());
      set_.unread.rules.insert(unread.rules.begin(), unread.rules.end());
      set_.unread.more_types |= unread.more_types;
      set_.unread.more_constants |= unread.more_constants;
      set_.unread.more_rules |= unread.more_rules;
    }
  }

  Checked check() {
    for_each<ast::ConstDecl>([&](const ast::ConstDecl& s, Reporter& report) { constant(s, report); });
    for_each<ast::EventDecl>([&](const ast::EventDecl& s, Reporter& report) { event(s, report); });
    for_each<ast::Rule>([&](const ast::Rule& s, Reporter& report) { announce(s, report); });
    rules();
    for_each<ast::Test>([&](const ast::Test& s, Reporter& report) { test(s, report); });
    warn_about_rules();

    Checked out;
    for (Diagnostics& list : found_) {
      std::stable_sort(list.begin(), list.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.line, a.column) < std::tie(b.line, b.column);
      });
      // One mistake may show at several elements: a key field that two types lack is two, an unknown constant is one.
      const auto same = [](const Diagnostic& a, const Diagnostic& b) {
        return a.line == b.line && a.column == b.column && a.message == b.message;
      };
      list.erase(std::unique(list.begin(), list.end(), same), list.end());
      std::move(list.begin(), list.end(), std::back_inserter(out.diagnostics));
    }
    if (has_errors(out.diagnostics)) return out;
    std::sort(result_.rules.begin(), result_.rules.end(),
              [](const plan::Rule& a, const plan::Rule& b) { return a.name < b.name; });
    std::sort(result_.disabled.begin(), result_.disabled.end());
    if (set_.options.texts) write_texts();
    for (const ast::File& file : files_) result_.files.push_back(file.name);
    result_.fields = std::move(fields_);
    out.rules = std::make_shared<const RuleSet>(std::move(result_));
    return out;
  }

 private:
  template <class Statement, class Visit>
  void for_each(const Visit& visit) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      for (const ast::Statement& statement : files_[i].statements) {
        if (const auto* wanted = std::get_if<Statement>(&statement)) visit(*wanted, reporters_[i]);
      }
    }
  }

  /// False, and reported, for the second statement of a kind with one name.
  bool first_of_name(std::string_view kind, const ast::Name& name, Reporter& report) {
    const auto [it, added] = first_[kind].emplace(name.text, std::pair(&report, name.where));
    if (added) return true;
    const auto& [where_report, where] = it->second;
    report.error(name.where, "a second " + std::string(kind) + " " + name.text + "; the first stands at " +
                                 where_report->place(where));
    return false;
  }

  void constant(const ast::ConstDecl& decl, Reporter& report) {
    if (!first_of_name("CONST", decl.name, report)) return;
    const ast::Expr* value = decl.value.get();
    bool negative = false;
    if (const auto* unary = std::get_if<ast::Unary>(&value->node); unary && unary->op == ast::UnaryOp::kNegate) {
      negative = true;
      value = unary->operand.get();
    }
    const auto* written = std::get_if<ast::Literal>(&value->node);
    auto literal = written == nullptr ? std::nullopt : negative ? negated(*written) : std::optional(*written);
    if (!literal)
      report.error(decl.value->where, "a CONST is a literal", "write it like CONST " + decl.name.text + " = 20");
    // A wrong one is kept as null: what uses it is not wrong for that.
    set_.constants.emplace(decl.name.text, literal.value_or(ast::Literal{ast::Null{}}));
  }

  /// -20; nothing for what has no negative.
  static std::optional<ast::Literal> negated(const ast::Literal& literal) {
    if (const auto* i = std::get_if<std::int64_t>(&literal.value); i && *i != INT64_MIN) return ast::Literal{-*i};
    if (const auto* d = std::get_if<double>(&literal.value)) return ast::Literal{-*d};
    return std::nullopt;
  }

  void event(const ast::EventDecl& decl, Reporter& report) {
    set_.declared = true;
    if (!first_of_name("EVENT", decl.name, report)) return;
    std::vector<DeclaredField> fields;
    for (const ast::FieldDecl& field : decl.fields) {
      const auto same = [&](const DeclaredField& f) { return f.name == field.name.text; };
      if (std::any_of(fields.begin(), fields.end(), same)) {
        report.error(field.name.where, "two fields of " + decl.name.text + " are called " + field.name.text);
        continue;
      }
      const auto type = parse_field_type(field.type.text);
      if (!type) {
        report.error(field.type.where, "unknown field type " + field.type.text, field_type_meant(field));
      }
      fields.push_back({field.name.text, type.value_or(FieldType::kString), field.nullable});
    }
    fields_.declare(fields_.add_type(decl.name.text), std::move(fields));
  }

  static std::string field_type_meant(const ast::FieldDecl& field) {
    static const std::pair<const char*, const char*> kForeign[] = {
        {"float", "double"},   {"real", "double"},    {"number", "double"},      {"decimal", "double"},
        {"integer", "int"},    {"long", "int"},       {"bigint", "int"},         {"int64", "int"},
        {"text", "string"},    {"varchar", "string"}, {"char", "string"},        {"boolean", "bool"},
        {"time", "timestamp"}, {"date", "timestamp"}, {"datetime", "timestamp"}, {"interval", "duration"}};
    if (parse_field_type(field.name.text)) return "the name comes first: " + field.type.text + " " + field.name.text;
    for (const auto& [word, type] : kForeign) {
      if (boost::algorithm::iequals(field.type.text, word)) return std::string("write ") + type;
    }
    const std::string near =
        did_you_mean(field.type.text, {"bool", "int", "double", "string", "timestamp", "duration"});
    return near.empty() ? "there are bool, int, double, string, timestamp and duration" : near;
  }

  void announce(const ast::Rule& rule, Reporter& report) {
    if (!first_of_name("RULE", rule.name, report)) return;
    const bool disabled = rule.status == ast::RuleStatus::kDisabled;
    checking::RuleNote& note = set_.rules[rule.name.text];
    note.disabled = disabled;
    notes_.emplace(&rule, &note);
    if (!disabled) checking::register_types(rule, set_);
  }

  void rules() {
    std::vector<checking::ChainRule> loaded, all;
    for (std::uint32_t i = 0; i < files_.size(); ++i) {
      for (const ast::Statement& statement : files_[i].statements) {
        const auto* rule = std::get_if<ast::Rule>(&statement);
        if (rule == nullptr) continue;
        all.push_back({rule, &reporters_[i], i});
        if (rule->status != ast::RuleStatus::kDisabled) loaded.push_back(all.back());
      }
    }
    result_.rules.reserve(loaded.size());
    checking::report_cycles(loaded);
    check_makers_first(loaded, [&](plan::Rule rule, const checking::ChainRule& written) {
      result_.rules.push_back(std::move(rule));
      written_.push_back(written);
    });
    if (loaded.size() == all.size()) return;
    // A rule that is not loaded must not make the decoder read anything, and makes nothing for those that are.
    FieldPlan aside = fields_;
    const auto made = set_.made;
    set_.fields = &aside;
    set_.slots_of_any.clear();
    std::erase_if(all, [](const auto& each) { return each.rule->status != ast::RuleStatus::kDisabled; });
    for (const checking::ChainRule& each : all) checking::register_types(*each.rule, set_);
    check_makers_first(
        all, [&](const plan::Rule& rule, const checking::ChainRule&) { result_.disabled.push_back(rule.name); });
    set_.fields = &fields_;
    set_.made = made;
  }

  void warn_about_rules() {
    if (std::any_of(reporters_.begin(), reporters_.end(), [](const Reporter& each) { return each.errors() > 0; })) {
      return;
    }
    std::vector<checking::CheckedRule> rules;
    for (std::size_t i = 0; i < result_.rules.size(); ++i) {
      rules.push_back({written_[i].rule, &result_.rules[i], written_[i].report});
    }
    checking::warn_about_rules(rules, set_);
  }

  void write_texts() {
    std::map<std::string_view, const ast::Rule*> written;
    for_each<ast::Rule>([&](const ast::Rule& rule, Reporter&) { written.emplace(rule.name.text, &rule); });
    for (const plan::Rule& rule : result_.rules) result_.texts.push_back(print(*written.at(rule.name)));
  }

  /// What a rule reads is known when the rules that make it have been checked.
  template <class Add>
  void check_makers_first(const std::vector<checking::ChainRule>& rules, const Add& add) {
    const std::vector<std::uint32_t> levels = checking::chain_levels(rules);
    std::vector<std::size_t> order(rules.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Level 0 last: in a cycle, which is reported, there is no first.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return levels[a] - 1 < levels[b] - 1; });
    const auto open = [&](const ast::Rule& rule) {
      for (const ast::Name* type : checking::made_types(rule)) set_.made[type->text].open = true;
    };
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (levels[i] == 0) open(*rules[i].rule);
    }
    for (const std::size_t i : order) {
      const ast::Rule& rule = *rules[i].rule;
      checking::RuleNote& note = note_of(rule);
      plan::Rule checked = checking::check_rule(rule, set_, *rules[i].report, note);
      checked.file = rules[i].file;
      checked.level = levels[i];
      if (!note.sound) open(rule);
      add(std::move(checked), rules[i]);
    }
  }

  /// What tests need to know of the rule; of a second rule with a name nobody asks.
  checking::RuleNote& note_of(const ast::Rule& rule) {
    const auto it = notes_.find(&rule);
    return it == notes_.end() ? second_note_ : *it->second;
  }

  void test(const ast::Test& test, Reporter& report) {
    if (first_of_name("TEST", test.name, report)) result_.tests.push_back(checking::check_test(test, set_, report));
  }

  const std::vector<ast::File>& files_;
  std::vector<Diagnostics> found_;  // by file
  std::deque<Reporter> reporters_;  // by file
  using Places = boost::unordered_flat_map<std::string_view, std::pair<Reporter*, ast::Location>>;
  std::map<std::string_view, Places> first_;                                // "RULE" -> its name -> where it stands
  boost::unordered_flat_map<const ast::Rule*, checking::RuleNote*> notes_;  // of the first rule of each name
  checking::RuleNote second_note_;
  FieldPlan fields_;
  SetContext set_;
  RuleSet result_;
  std::vector<checking::ChainRule> written_;  // of result_.rules, before they are sorted
};

}  // namespace

Checked check(const std::vector<ast::File>& files, const CheckOptions& options, const FieldPlan* before) {
  return SetChecker(files, options, before).check();
}

}  // namespace cepd::dsl
