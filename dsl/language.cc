#include "dsl/language.h"

#include "base/field_plan.h"
#include "base/time.h"
#include "base/value.h"
#include "dsl/aggregates.h"
#include "dsl/keyword.h"

namespace cepd::dsl {
namespace {

using syntax::KeywordInfo;

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// `"name": [` and one entry a line.
std::string table(std::string_view name, const std::vector<std::string>& rows) {
  std::string out = "  " + quoted(name) + ": [\n";
  for (const std::string& row : rows) out += "    " + row + (&row == &rows.back() ? "\n" : ",\n");
  return out + "  ]";
}

std::string keyword_row(const KeywordInfo& keyword) {
  std::string out = "{\"text\": " + quoted(keyword.text);
  if (keyword.statement) out += ", \"begins\": \"statement\"";
  if (keyword.clause > 0) out += ", \"begins\": \"clause\"";
  if (keyword.name) out += ", \"reserved_as_name\": true";
  if (keyword.condition) out += ", \"reserved_in_conditions\": true";
  if (!keyword.form.empty()) out += ", \"example\": " + quoted(keyword.form);
  return out + "}";
}

std::string function_row(const plan::FunctionInfo& function) {
  return "{\"name\": " + quoted(function.name) + ", \"min_arguments\": " + std::to_string(function.min_arguments) +
         ", \"max_arguments\": " + std::to_string(function.max_arguments) + "}";
}

std::string_view type_name(ArgumentType type) {
  switch (type) {
    case ArgumentType::kText:
      return "text";
    case ArgumentType::kNumber:
      return "number";
    case ArgumentType::kDuration:
      return "duration";
    case ArgumentType::kUrl:
      return "url";
    case ArgumentType::kAny:
      return "any";
  }
  return "any";
}

std::string action_row(const ActionSchema& action) {
  std::string out = "{\"name\": " + quoted(action.name) + ", \"parameters\": [";
  for (const ActionParameter& parameter : action.parameters) {
    if (&parameter != &action.parameters.front()) out += ", ";
    out += "{\"name\": " + quoted(parameter.name) + ", \"type\": " + quoted(type_name(parameter.type)) +
           ", \"required\": " + (parameter.required ? "true" : "false") + "}";
  }
  return out + "], \"further_arguments\": " + (action.open ? "true" : "false") + "}";
}

// ---- TextMate ----

/// `A|B|C` of the keywords for which `wanted` holds.
template <class Wanted>
std::string words(Wanted wanted) {
  std::string out;
  for (const KeywordInfo& keyword : syntax::kKeywords) {
    if (keyword.keyword != syntax::Keyword::kNone && wanted(keyword)) {
      out += (out.empty() ? "" : "|") + std::string(keyword.text);
    }
  }
  return out;
}

template <class List, class Name>
std::string names(const List& list, Name name) {
  std::string out;
  for (const auto& one : list) out += (out.empty() ? "" : "|") + std::string(name(one));
  return out;
}

std::string match(std::string_view scope, std::string_view regex) {
  return "{\"name\": " + quoted(std::string(scope) + ".cepd") + ", \"match\": " + quoted(regex) + "}";
}

std::string string_between(std::string_view scope, std::string_view quote, bool escapes) {
  const std::string end = std::string(quote) + "|$";
  std::string out = "{\"name\": " + quoted(std::string(scope) + ".cepd") + ", \"begin\": " + quoted(quote) +
                    ", \"end\": " + quoted(end);
  if (escapes) {
    out += ", \"patterns\": [" + match("constant.character.escape", R"(\\([nt\\"']|u\{[0-9A-Fa-f]+\}))") + ", " +
           match("invalid.illegal.escape", R"(\\.)") + ", " +
           match("constant.other.placeholder", R"(\{\{|\}\}|\{[^{}"']*\})") + "]";
  }
  return out + "}";
}

bool is_logic(const KeywordInfo& keyword) {
  using syntax::Keyword;
  return keyword.condition && keyword.keyword != Keyword::kNull && keyword.keyword != Keyword::kTrue &&
         keyword.keyword != Keyword::kFalse && keyword.keyword != Keyword::kThis;
}

}  // namespace

std::string language_json(const std::vector<ActionSchema>& actions) {
  std::vector<std::string> keywords, functions, aggregates, types, units, action_rows;
  for (const KeywordInfo& keyword : syntax::kKeywords) {
    if (keyword.keyword != syntax::Keyword::kNone) keywords.push_back(keyword_row(keyword));
  }
  for (const plan::FunctionInfo& function : plan::functions()) functions.push_back(function_row(function));
  for (const std::string_view name : kPickers) aggregates.push_back(quoted(name));
  for (const AggregateInfo& aggregate : kAggregates) aggregates.push_back(quoted(aggregate.name));
  for (const FieldType type : kFieldTypes) types.push_back(quoted(field_type_name(type)));
  for (const std::string_view unit : duration_units()) units.push_back(quoted(unit));
  for (const ActionSchema& action : actions) action_rows.push_back(action_row(action));
  return "{\n" + table("keywords", keywords) + ",\n" + table("functions", functions) + ",\n" +
         table("functions_of_elements", aggregates) + ",\n" + table("field_types", types) + ",\n" +
         table("duration_units", units) + ",\n" + table("actions", action_rows) + "\n}\n";
}

std::string textmate_grammar(const std::vector<ActionSchema>& actions) {
  const std::string units = names(duration_units(), [](std::string_view unit) { return unit; });
  const std::string duration = "\\d+(" + units + ")(\\d+(" + units + "))*\\b";
  const auto whole = [](const std::string& alternatives) { return "(?i)\\b(" + alternatives + ")\\b"; };
  const auto called = [](const std::string& alternatives) { return "\\b(" + alternatives + ")\\b(?=\\s*\\()"; };
  const std::vector<std::string> patterns = {
      match("comment.line.number-sign", "#.*$"),
      string_between("string.quoted.double", "\"", true),
      string_between("string.quoted.single", "'", true),
      string_between("string.quoted.other.name", "`", false),
      // After a dot and before a colon every word is a name.
      match("variable.other.member", "(?<=\\.)[A-Za-z_][A-Za-z0-9_]*"),
      match("variable.other.property", "\\b[A-Za-z_][A-Za-z0-9_]*(?=\\s*:)"),
      match("constant.other.timestamp", "@\"[^\"]*\""),
      match("constant.numeric.duration", "@?\\b" + duration),
      match("constant.numeric", "\\b\\d+(\\.\\d+)?([eE][+-]?\\d+)?\\b"),
      match("variable.other.constant", "\\$[A-Za-z_][A-Za-z0-9_]*"),
      match("support.function", called(names(plan::functions(), [](const auto& f) { return f.name; }))),
      match("support.function.aggregate", called(names(kPickers, [](std::string_view name) { return name; }) + "|" +
                                                 names(kAggregates, [](const auto& a) { return a.name; }))),
      match("support.function.action", called(names(actions, [](const auto& a) { return a.name; }))),
      match("keyword.control.statement", whole(words([](const KeywordInfo& k) { return k.statement; }))),
      match("keyword.other.clause", whole(words([](const KeywordInfo& k) { return k.clause > 0; }))),
      match("keyword.operator.word", whole(words(is_logic))),
      match("constant.language", "(?i)\\b(TRUE|FALSE|NULL)\\b"),
      match("variable.language", "(?i)\\bTHIS\\b(?=\\.)"),
      match("keyword.other",
            whole(words([](const KeywordInfo& k) { return k.name && !k.statement && k.clause == 0 && !k.condition; }))),
      // Never reserved: in lower case they are names more often than not.
      match("keyword.other", "\\b(" + words([](const KeywordInfo& k) { return !k.name && !k.condition; }) + ")\\b"),
      match("support.type", "\\b(" + names(kFieldTypes, [](FieldType type) { return field_type_name(type); }) +
                                ")\\b[?]?(?=\\s*([,)#]|$))"),
      match("keyword.operator", "!=|<=|>=|[=<>+*/%|?-]"),
  };
  return "{\n  \"name\": \"cepd rules\",\n  \"scopeName\": \"source.cepd\",\n  \"fileTypes\": [\"rules\"],\n" +
         table("patterns", patterns) + "\n}\n";
}

}  // namespace cepd::dsl
