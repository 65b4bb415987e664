#include "app/group_writer.h"

#include <spdlog/spdlog.h>

#include "base/fault.h"

namespace cepd::app {

Result<std::unique_ptr<GroupWriter>> GroupWriter::open(state::StateBackend& backend, state::Outbox& outbox,
                                                       GroupWriterOptions options, Measures& measures,
                                                       const Clock& clock) {
  std::unique_ptr<GroupWriter> writer(new GroupWriter(backend, outbox, options, measures, clock));
  state::CheckpointCallbacks callbacks{
      [w = writer.get()](const state::CheckpointInfo& info) { w->checkpoint_finished(info); },
      [w = writer.get()](const Error& reason, auto) {
        w->measures_.checkpoint_failed();
        w->failed(reason);
      },
      [w = writer.get()] { w->works_again(); }};
  auto checkpoints = state::Checkpoints::open(backend, options.checkpoint, std::move(callbacks), clock);
  if (!checkpoints) return std::move(checkpoints).error();
  writer->checkpoints_ = std::move(*checkpoints);
  return writer;
}

GroupWriter::~GroupWriter() { static_cast<void>(stop()); }

Status GroupWriter::start() {
  const auto last = checkpoint();
  auto journal = state::Journal::open(backend_, last ? last->journal_sequence : 0);
  if (!journal) return std::move(journal).error();
  journal_ = std::move(*journal);
  now_ = clock_.now();
  committer_ = std::make_unique<state::Committer>(
      backend_, options_.commit,
      state::CommitterCallbacks{[this](const state::Commit& commit) { durable(commit); },
                                [this](const Error& reason, auto) {
                                  measures_.commit_failed();
                                  failed(reason);
                                },
                                [this] { works_again(); }},
      checkpoints_.get());
  outbox_.attach(*committer_, options_.deliver);
  return {};
}

void GroupWriter::took(const adapters::Message& message, bool replayable, bool future) {
  const SourcePosition& position = message.position;
  if (message.receipt) receipts_.push_back(message.receipt);
  if (!replayable) {
    append_open();
    append(state::JournalMessage{position, message.topic, message.too_long, future, message.bytes});
  } else if (future) {
    append_open();
    append(state::JournalFuture{position});
  } else {
    // The most frequent case: a run of one partition.
    const bool goes_on = run_ && !advance_ && run_->source == position.source && run_->partition == position.partition;
    if (!goes_on) append_open();
    run_ = state::JournalTook{position.source, position.partition, position.offset};
  }
  has_entries_ = true;
}

void GroupWriter::idle(const SourceId& source, std::int32_t partition) {
  append_open();
  append(state::JournalIdle{source, partition});
  has_entries_ = true;
}

void GroupWriter::origin(const SourceId& source, const std::string& origin) {
  append_open();
  append(state::JournalOrigin{source, origin});
  has_entries_ = true;
}

void GroupWriter::begins(const SourcePosition& next) {
  append_open();
  append(state::JournalBegins{next.source, next.partition, next.offset});
  has_entries_ = true;
}

void GroupWriter::advance(EventTime watermark) {
  append_run();
  advance_ = watermark;
}

void GroupWriter::reload(std::vector<state::RuleText> files) {
  append_open();
  append(state::JournalReload{std::move(files)});
  has_entries_ = true;
}

void GroupWriter::append_run() {
  if (run_) append(*std::exchange(run_, std::nullopt));
}

void GroupWriter::append_open() {
  append_run();
  if (advance_) append(state::JournalAdvance{*std::exchange(advance_, std::nullopt)});
}

void GroupWriter::commit(bool more) {
  now_ = clock_.now();
  if (!has_entries_ && !outbox_.has_new()) return;
  append_open();
  has_entries_ = false;
  state::WriteBatch batch;
  journal_->drain(batch);
  {
    // With the lock, so that the commit is not durable before it is known who waits for it.
    const std::lock_guard lock(mutex_);
    const state::CommitTicket ticket = outbox_.hand_over(std::move(batch));
    if (!receipts_.empty()) waiting_.emplace_back(ticket, std::exchange(receipts_, {}));
  }
  if (!more) committer_->hurry();
}

void GroupWriter::durable(const state::Commit& commit) {
  measures_.committed(commit);
  outbox_.durable(commit.through);
  const std::lock_guard lock(mutex_);
  for (; !waiting_.empty() && waiting_.front().first <= commit.through; waiting_.pop_front()) {
    fault(FaultPoint::kBeforeAcknowledge);
    for (const auto& receipt : waiting_.front().second) receipt->release();
    fault(FaultPoint::kAfterAcknowledge);
  }
}

void GroupWriter::failed(const Error& reason) {
  if (failed_.exchange(true)) return;
  spdlog::error("the state was not saved, it will be tried again: {}", reason.message);
  spdlog::error("no input is taken until the state can be saved");
}

void GroupWriter::works_again() {
  if (failing()) return;  // groups or checkpoints still do
  if (failed_.exchange(false)) spdlog::info("the state was saved, input goes on");
}

void GroupWriter::checkpoint_finished(const state::CheckpointInfo& info) {
  measures_.checkpoint_finished(info);
  if (on_checkpoint_) on_checkpoint_(info.number);
  spdlog::debug("checkpoint {} is finished: {} changes, {} bytes in {} us", info.number, info.changes, info.bytes,
                info.duration.count());
}

std::uint64_t GroupWriter::begin_checkpoint() {
  append_open();
  has_entries_ = true;
  commit(false);
  return checkpoints_->begin(journal_->last(), outbox_.next_sequence());
}

void GroupWriter::complete_checkpoint() {
  checkpoints_->finish();
  committer_->hurry();
}

std::optional<Error> GroupWriter::failing() const {
  if (auto reason = committer_->failing()) return reason;
  return checkpoints_->failing();
}

Status GroupWriter::stop() { return committer_ ? committer_->stop() : Status(); }

}  // namespace cepd::app
