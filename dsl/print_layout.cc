#include "dsl/print_layout.h"

#include <algorithm>

namespace cepd::dsl::printing {
namespace {

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

class ClauseWriter {
 public:
  ClauseWriter(const Clause& clause, const std::vector<PartComments>& comments, std::vector<Line>& lines)
      : clause_(clause), comments_(comments), lines_(lines) {}

  void write() {
    if (fits_one_line()) {
      own_lines(0, width_of_indent(clause_.prefix));
      std::string text = clause_.prefix;
      for (const Part& part : clause_.parts) append(text, part, text.size() == clause_.prefix.size());
      lines_.push_back({std::move(text), after(clause_.parts.size() - 1)});
      return;
    }
    for (std::size_t i = 0; i < clause_.parts.size(); ++i) place(i);
    flush();
  }

 private:
  static std::size_t width_of_indent(const std::string& prefix) {
    return std::min(prefix.find_first_not_of(' '), prefix.size());
  }
  const std::string& after(std::size_t part) const {
    static const std::string kNone;
    return part < comments_.size() ? comments_[part].after : kNone;
  }
  bool has_before(std::size_t part) const { return part < comments_.size() && !comments_[part].before.empty(); }

  static void append(std::string& text, const Part& part, bool first) {
    if (!first && !part.glued) text += ' ';
    text += part.text;
  }

  bool fits_one_line() const {
    if (clause_.parts.size() > 1 && clause_.mode == Break::kAlways) return false;
    std::size_t all = width(clause_.prefix);
    for (std::size_t i = 0; i < clause_.parts.size(); ++i) {
      if (i > 0 && has_before(i)) return false;
      if (i + 1 < clause_.parts.size() && !after(i).empty()) return false;
      all += width(clause_.parts[i].text) + (i > 0 && !clause_.parts[i].glued ? 1 : 0);
    }
    return all <= kWidth || clause_.parts.size() == 1;
  }

  void own_lines(std::size_t part, std::size_t indent) {
    if (!has_before(part)) return;
    for (const std::string& comment : comments_[part].before) lines_.push_back({std::string(indent, ' ') + comment});
  }

  void place(std::size_t i) {
    const bool last = i + 1 == clause_.parts.size();
    const std::size_t indent = last && i > 0 && clause_.last_indent ? *clause_.last_indent : clause_.indent;
    const Part& part = clause_.parts[i];
    if (i == 0 && !clause_.first_breaks) {
      own_lines(0, width_of_indent(clause_.prefix));
      line_ = clause_.prefix;
      append(line_, part, true);
    } else {
      if (i == 0) {
        line_ = clause_.prefix;
        line_.erase(line_.find_last_not_of(' ') + 1);
      }
      const bool same_line = i > 0 && clause_.mode == Break::kFill && !has_before(i) && after(i - 1).empty() &&
                             width(line_) + 1 + width(part.text) <= kWidth;
      if (same_line) {
        append(line_, part, false);
      } else {
        flush();
        own_lines(i, indent);
        line_.assign(indent, ' ');
        append(line_, part, true);
      }
    }
    comment_ = after(i);
  }

  void flush() {
    if (!line_.empty()) lines_.push_back({std::move(line_), std::move(comment_)});
    line_.clear();
    comment_.clear();
  }

  const Clause& clause_;
  const std::vector<PartComments>& comments_;
  std::vector<Line>& lines_;
  std::string line_, comment_;  // under construction
};

}  // namespace

void append_lines(const Clause& clause, const std::vector<PartComments>& comments, std::vector<Line>& lines) {
  ClauseWriter(clause, comments, lines).write();
}

}  // namespace cepd::dsl::printing
