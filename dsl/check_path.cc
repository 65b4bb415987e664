/// Paths: elements of the pattern, fields of the tested event, key fields, emitted items.

#include <algorithm>

#include "dsl/check_expr.h"

namespace cepd::dsl::checking {
namespace {

const std::string* name_step(const FieldPath& path, std::size_t index) {
  return index < path.steps.size() ? std::get_if<std::string>(&path.steps[index]) : nullptr;
}

FieldPath without_first(const FieldPath& path, std::size_t count) {
  return FieldPath{{path.steps.begin() + static_cast<std::ptrdiff_t>(count), path.steps.end()}};
}

}  // namespace

plan::FieldRef field_ref(SetContext& set, const plan::Types& types, FieldPath path, bool quoted) {
  plan::FieldRef ref;
  ref.path = std::move(path);
  if (const std::string* only = name_step(ref.path, 0); only != nullptr && ref.path.steps.size() == 1 && !quoted) {
    if (*only == "ts") ref.property = plan::Property::kTime;
    if (*only == "type") ref.property = plan::Property::kType;
  }
  if (ref.property != plan::Property::kField) return ref;
  std::vector<std::pair<TypeId, std::uint32_t>> slots;
  const auto slot_in = [&](TypeId type) {
    return std::pair(type, static_cast<std::uint32_t>(*set.fields->slot(type, ref.path)));
  };
  if (types.any) {
    // All types of the set have been added before the first expression is built, so the list is complete.
    const auto [known, added] = set.slots_of_any.try_emplace(ref.path);
    if (added) {
      set.fields->add_field(kOtherType, ref.path);
      for (std::size_t i = 0; i < set.fields->types().size(); ++i) slots.push_back(slot_in(static_cast<TypeId>(i)));
      known->second = std::move(slots);
    }
    ref.slots = known->second;
    return ref;
  }
  for (const TypeId type : types.ids) {
    set.fields->add_field(type, ref.path);
    slots.push_back(slot_in(type));
  }
  ref.slots = set.share.slots(std::move(slots));
  return ref;
}

std::optional<std::pair<Kinds, bool>> field_kinds(const SetContext& set, const plan::Types& types,
                                                  const plan::FieldRef& ref, ast::Location where, Reporter& report) {
  if (ref.property == plan::Property::kTime) return std::pair(Kinds(Kind::kTimestamp), false);
  if (ref.property == plan::Property::kType) return std::pair(Kinds(Kind::kString), false);
  const std::string* first = name_step(ref.path, 0);
  if (types.any || first == nullptr) return std::pair(Kinds::all(), false);
  Kinds kinds;
  bool found = false;
  std::string with_field;
  std::vector<std::string> names;
  for (const TypeId id : types.ids) {
    const FieldPlan::Type& type = set.fields->type(id);
    if (!type.declared) {
      const auto made = set.made.find(type.name);
      if (made == set.made.end() || made->second.open || set.unread.more_types ||
          set.unread.types.count(type.name) != 0)
        return std::pair(Kinds::all(), false);
      for (const auto& [name, of] : made->second.fields) names.push_back(name);
      const auto field = made->second.fields.find(*first);
      if (!set.declared) {
        // Events of that type may come from a source as well, with other fields.
        if (field == made->second.fields.end() && types.ids.size() == 1) {
          report.warn(where, "no rule that makes " + type.name + " emits " + quoted_if_needed(*first),
                      did_you_mean(*first, names));
        }
        return std::pair(Kinds::all(), false);
      }
      if (field == made->second.fields.end()) continue;
      found = true;
      if (with_field.empty()) with_field = type.name;
      // Parts of arrays and objects may be anything.
      kinds = kinds | (ref.path.steps.size() > 1 && field->second.overlaps(Kind::kJson) ? Kinds::all() : field->second);
      continue;
    }
    for (const DeclaredField& field : *type.declared) {
      names.push_back(field.name);
      if (field.name != *first) continue;
      found = true;
      if (with_field.empty()) with_field = type.name;
      kinds = kinds | kinds_of(field.type);
    }
  }
  if (types.ids.empty()) return std::pair(Kinds::all(), false);
  if (!found) {
    std::string list;
    for (const TypeId id : types.ids) list += (list.empty() ? "" : " | ") + set.fields->type(id).name;
    report.error(where, list + " has no field " + quoted_if_needed(*first), did_you_mean(*first, names));
    return std::nullopt;
  }
  if (ref.path.steps.size() > 1 && !kinds.is_all()) {
    report.error(where, "the field " + *first + " of " + with_field + " is declared as " + to_string(kinds) +
                            " and has no parts");
    return std::nullopt;
  }
  return std::pair(kinds, true);
}

Built ExprBuilder::field(plan::FieldRef ref, const plan::Types& types, ast::Location where) {
  const auto kinds = field_kinds(scope_.set, types, ref, where, scope_.report);
  if (!kinds) return {};
  return {scope_.set.share.make(std::move(ref)), kinds->first, kinds->second};
}

Built ExprBuilder::path(const ast::PathRef& ref, ast::Location where) {
  const bool brackets = place_ == Place::kElement || place_ == Place::kFrom || place_ == Place::kUnless;
  const auto tested_field = [&] {
    return field(field_ref(scope_.set, *tested_, ref.path, ref.quoted), *tested_, where);
  };
  if (ref.from_this) {
    if (brackets) return tested_field();
    scope_.report.error(where, "`this.` is the event tested in [ ]; no event is tested here",
                        "write it with the element's name, like name." + to_string(ref.path));
    return {};
  }
  const std::string* first = name_step(ref.path, 0);
  if (first != nullptr && ref.path.steps.size() > 1) {
    if (const auto it = scope_.names.find(*first); it != scope_.names.end()) {
      return element_field(it->second, ref, where);
    }
  }
  return brackets ? tested_field() : bare_name(ref.path, where, false);
}

Built ExprBuilder::bare_name(const FieldPath& path, ast::Location where, bool labels) {
  const std::string* only = path.steps.size() == 1 ? name_step(path, 0) : nullptr;
  if (only != nullptr && names_.emit != nullptr) {
    for (std::size_t i = 0; i < names_.emit->size(); ++i) {
      if ((*names_.emit)[i].name == *only)
        return {scope_.set.share.make(plan::EmitRef{i}), (*names_.emit_kinds)[i], false};
    }
  }
  for (std::size_t i = 0; i < scope_.key.size(); ++i) {
    if (scope_.key[i] == path)
      return {scope_.set.share.make(plan::KeyRef{i}), scope_.key_kinds[i], scope_.set.declared};
  }
  if (labels && only != nullptr && names_.labels != nullptr) {
    for (const plan::Item& label : *names_.labels) {
      if (label.name == *only) return {label.value, Kinds::all(), false};
    }
  }
  return unknown_name(path, where);
}

Built ExprBuilder::template_name(const ast::PathRef& ref, ast::Location where) {
  const std::string* first = name_step(ref.path, 0);
  if (first != nullptr && ref.path.steps.size() > 1) {
    if (const auto it = scope_.names.find(*first); it != scope_.names.end()) {
      return element_field(it->second, ref, where);
    }
  }
  return bare_name(ref.path, where, true);
}

Built ExprBuilder::element_field(std::size_t element, const ast::PathRef& written_ref, ast::Location where) {
  const FieldPath& path = written_ref.path;
  std::size_t skipped = 1;
  const auto* index = std::get_if<std::int64_t>(&path.steps[1]);
  if (index != nullptr) {
    skipped = 2;
    if (name_step(path, 2) == nullptr) {
      const std::string written = to_string(path);
      scope_.report.error(where, written + " is an event; name a field of it, like " + written + ".amount",
                          place_ == Place::kElement ? "for the field of the event tested write this." + written : "");
      return {};
    }
  }
  const FieldPath rest = without_first(path, skipped);
  if (!may_look_at(element, where, rest, index != nullptr)) return {};
  const plan::Types& types = scope_.elements[element].test.types;
  plan::FieldRef ref = field_ref(scope_.set, types, rest, written_ref.quoted);
  if (index != nullptr) {
    ref.subject = plan::Subject::kIndex;
    ref.index = *index;
  } else {
    // In a WHERE part its own element's field is the one of the event that the part tests.
    ref.subject = place_ == Place::kWhere && own_ == element ? plan::Subject::kTested : plan::Subject::kLast;
  }
  if (ref.subject != plan::Subject::kTested) ref.element = static_cast<plan::ElementId>(element);
  return field(std::move(ref), types, where);
}

/// `whole`: an aggregate, first, last or index, which speaks of all events of the element and not of the tested one.
bool ExprBuilder::may_look_at(std::size_t element, ast::Location where, const FieldPath& field, bool whole) {
  const plan::Element& target = scope_.elements[element];
  const std::string& name = target.name;
  if (place_ == Place::kFrom) {
    scope_.report.error(where, "a condition in FROM is tested before any element is bound; " + name + " is an element",
                        field.empty() ? "" : "for a field of that name write this." + name + "." + to_string(field));
    return false;
  }
  if (own_ == element && place_ == Place::kElement) {
    if (scope_.repeated(element)) return true;
    if (whole || field.empty()) {
      scope_.report.error(where, name + " is not repeated: in its own [ ] nothing is bound to it yet");
    } else {
      scope_.report.error(where, name + " is the element being tested here; its fields stand bare",
                          "write " + to_string(field));
    }
    return false;
  }
  if (own_ == element && place_ == Place::kWhere) {
    if (!whole) return true;
    scope_.report.error(where,
                        "a WHERE part tests one event of " + name +
                            ", which is the last element it names; this speaks "
                            "of all of them",
                        target.role == plan::Role::kNot ? std::string{}
                                                        : "put it in HAVING for the whole match, or in the [ ] of " +
                                                              name + " for what it took so far");
    return false;
  }
  if (target.role == plan::Role::kNot) {
    scope_.report.error(where, name + " is a NOT: no event is ever bound to it",
                        place_ == Place::kWhere || place_ == Place::kElement
                            ? "a condition on it may name only elements before it"
                            : "");
    return false;
  }
  if (place_ == Place::kElement && own_) {
    const ElementPlace& place = scope_.places[*own_];
    const ElementPlace& other = scope_.places[element];
    if (place.excludes(other)) {
      scope_.report.error(where, name + " stands in another alternative of the same OR: it is never bound here");
      return false;
    }
    if (place.all && place.all == other.all) {
      scope_.report.error(where, name + " is a member of the same AND and may come later",
                          "put the condition in WHERE: it is tested when the last of the members comes");
      return false;
    }
  }
  if (place_ == Place::kElement && own_ && element > *own_) {
    scope_.report.error(where, name + " stands later in the pattern; a condition in [ ] names elements before its own",
                        "put the condition in WHERE, or in the [ ] of " + name);
    return false;
  }
  return true;
}

Built ExprBuilder::unknown_name(const FieldPath& path, ast::Location where) {
  const std::string written = to_string(path);
  const std::string* first = name_step(path, 0);
  std::vector<std::string> known = scope_.bound_names();

  if (first != nullptr && path.steps.size() == 1 && scope_.names.count(*first) != 0) {
    scope_.report.error(where, written + " is an element; name a field of it, like " + written + ".amount");
    return {};
  }
  // Two nameless elements of one type, or a type whose element has an AS name.
  if (first != nullptr && path.steps.size() > 1) {
    std::vector<std::string> called;
    for (const plan::Element& element : scope_.elements) {
      const auto& ids = element.test.types.ids;
      if (element.role == plan::Role::kTake && ids.size() == 1 && scope_.set.fields->type(ids.front()).name == *first) {
        called.push_back(element.name);
      }
    }
    if (called.size() == 1 && scope_.names.count(called.front()) != 0) {
      scope_.report.error(where, "the element of type " + *first + " is called " + called.front(),
                          "write " + quoted_if_needed(called.front()) + "." + to_string(without_first(path, 1)));
      return {};
    }
    const auto is_nameless_not = [&](const plan::Element& element) {
      return element.role == plan::Role::kNot && scope_.names.count(element.name) == 0 && element.name == *first;
    };
    if (called.empty() && std::any_of(scope_.elements.begin(), scope_.elements.end(), is_nameless_not)) {
      const bool part = place_ == Place::kWhere;
      scope_.report.error(
          where, part ? *first + " is a NOT without a name" : *first + " is a NOT: no event is ever bound to it",
          part ? "write NOT " + quoted_if_needed(*first) + " AS name, and name." + to_string(without_first(path, 1)) +
                     " here"
               : "");
      return {};
    }
    if (called.size() > 1) {
      scope_.report.error(where, "more than one element is of type " + *first + ": which one is meant?",
                          "name them with AS");
      return {};
    }
    if (const std::string near = nearest(*first, known); !near.empty()) {
      scope_.report.error(where, "unknown element " + *first,
                          "did you mean " + quoted_if_needed(near) + "." + to_string(without_first(path, 1)) + "?");
      return {};
    }
    // A type of some other rule or place is hardly meant as a field with parts.
    if (called.empty() && scope_.set.fields->find(*first)) {
      std::string there_are;
      for (const std::string& name : known) there_are += (there_are.empty() ? "" : ", ") + quoted_if_needed(name);
      scope_.report.error(where, "no element of the pattern is called " + *first,
                          there_are.empty() ? "name the elements with AS" : "there are " + there_are);
      return {};
    }
  }

  std::string what = "an element's field or a key field";
  if (place_ == Place::kAction) what = "an emitted item, a key field or an element's field";
  if (place_ == Place::kAction && first != nullptr && path.steps.size() == 1) {
    std::vector<std::string> items;
    if (names_.emit != nullptr) {
      for (const plan::Item& item : *names_.emit) items.push_back(item.name);
    }
    for (const FieldPath& key : scope_.key) items.push_back(to_string(key));
    if (names_.labels != nullptr) {
      for (const plan::Item& label : *names_.labels) items.push_back(label.name);
    }
    if (const std::string near = nearest(*first, items); !near.empty()) {
      scope_.report.error(where, written + " is not " + what, "did you mean " + near + "?");
      return {};
    }
  }
  // The elements that have such a field, as far as that is known.
  std::string suggestion;
  for (const plan::Element& element : scope_.elements) {
    if (element.role != plan::Role::kTake || scope_.names.count(element.name) == 0) continue;
    const auto& ids = element.test.types.ids;
    const bool may_have = element.test.types.any || std::any_of(ids.begin(), ids.end(), [&](TypeId id) {
                            const auto& declared = scope_.set.fields->type(id).declared;
                            return !declared || first == nullptr || *first == "ts" || *first == "type" ||
                                   std::any_of(declared->begin(), declared->end(),
                                               [&](const DeclaredField& f) { return f.name == *first; });
                          });
    if (may_have)
      suggestion += (suggestion.empty() ? "write " : " or ") + quoted_if_needed(element.name) + "." + written;
  }
  if (const std::string near = first == nullptr ? std::string{}
                                                : nearest(*first,
                                                          [&] {
                                                            std::vector<std::string> keys;
                                                            for (const FieldPath& key : scope_.key)
                                                              keys.push_back(to_string(key));
                                                            return keys;
                                                          }());
      !near.empty()) {
    suggestion = "did you mean " + near + "?";
  }
  scope_.report.error(where, written + " is not " + what, suggestion);
  return {};
}

}  // namespace cepd::dsl::checking
