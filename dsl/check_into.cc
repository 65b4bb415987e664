#include "dsl/check_into.h"

#include <algorithm>

#include "dsl/check_pattern.h"

namespace cepd::dsl::checking {
namespace {

/// A field of the made event: what it may hold, and where it comes from in the text.
struct MadeField {
  Kinds kinds;
  ast::Location where;
  bool item = false;  ///< of EMIT; otherwise of KEY
};
using MadeFields = std::map<std::string, MadeField, std::less<>>;

ast::Location place_of(const ast::Item& item) { return item.as ? item.as->where : item.value->where; }

MadeFields fields_of(RuleScope& scope, const ast::Emit& emit, const Items& items) {
  MadeFields out;
  for (std::size_t i = 0; i < items.items.size(); ++i) {
    // After a mistake some items are missing, and the others' places are not known.
    const bool whole = items.items.size() == emit.items.size();
    out[items.items[i].name] = {items.kinds[i], whole ? place_of(emit.items[i]) : emit.where, true};
  }
  for (std::size_t i = 0; i < scope.key.size(); ++i) {
    const auto* first = std::get_if<std::string>(&scope.key[i].steps.front());
    if (first == nullptr) continue;
    const bool nested = scope.key[i].steps.size() > 1;
    const auto [it, added] =
        out.emplace(*first, MadeField{nested ? Kinds(Kind::kJson) : scope.key_kinds[i], emit.into->where, false});
    if (!added && it->second.item && nested) {
      scope.report.error(it->second.where,
                         "an item called " + *first + " takes the place of the key field " + to_string(scope.key[i]),
                         "give it another name with AS");
    }
  }
  return out;
}

void check_declared(const std::string& type, const std::vector<DeclaredField>& declared, const MadeFields& fields,
                    ast::Location into, Reporter& report) {
  std::vector<std::string> undeclared;  // items
  for (const auto& [name, field] : fields) {
    const auto same = [&called = name](const DeclaredField& d) { return d.name == called; };
    if (field.item && std::none_of(declared.begin(), declared.end(), same)) undeclared.push_back(name);
  }
  for (const DeclaredField& field : declared) {
    const std::string text = field.name + " " + std::string(field_type_name(field.type));
    const auto it = fields.find(field.name);
    if (it == fields.end()) {
      const std::string near = nearest(field.name, undeclared);
      if (field.nullable && !near.empty()) {
        report.warn(fields.at(near).where, type + " has no field " + near, "did you mean " + field.name + "?");
      } else if (!field.nullable) {
        report.error(into, type + " needs " + text + ", and EMIT has no item of that name",
                     near.empty() ? "add it, or declare it as " + text + "?" : "is " + near + " meant?");
      }
      continue;
    }
    const Kinds kinds = it->second.kinds;
    // An int is made a double where one is declared.
    const Kinds fitting = field.type == FieldType::kDouble ? Kinds::number() : kinds_of(field.type);
    if (kinds.overlaps(fitting) || (kinds.empty() && field.nullable)) continue;
    report.error(it->second.where, field.name + " of " + type + " is declared as " +
                                       std::string(field_type_name(field.type)) + ", and this is " +
                                       with_article(kinds));
  }
}

}  // namespace

std::optional<TypeId> build_into(RuleScope& scope, const ast::Emit* emit, const Items& items) {
  if (emit == nullptr || !emit->into) return std::nullopt;
  const std::string& name = emit->into->text;
  const std::size_t before = scope.report.errors();
  const TypeId type = scope.set.fields->add_type(name);
  const MadeFields fields = fields_of(scope, *emit, items);
  if (const auto& declared = scope.set.fields->type(type).declared; declared && scope.report.errors() == before) {
    check_declared(name, *declared, fields, emit->into->where, scope.report);
  }
  MadeType& made = scope.set.made[name];
  for (const auto& [field, of] : fields) made.fields[field] = made.fields[field] | of.kinds;
  return type;
}

void warn_shadow_input(const ast::Rule& rule, const SetContext& set, Reporter& report) {
  if (rule.status == ast::RuleStatus::kShadow) return;
  for_each_event(rule, [&](const ast::EventPattern& event) {
    for (const ast::Name& type : event.types) {
      const auto it = set.made.find(type.text);
      if (it == set.made.end() || !it->second.shadow_only) continue;
      report.warn(type.where, "only SHADOW rules make " + type.text + ", and only SHADOW rules read what they make",
                  "as long as that is so, this rule gets none of it");
    }
  });
}

}  // namespace cepd::dsl::checking
