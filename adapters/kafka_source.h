#pragma once
/// Events from the topics of a Kafka cluster, as a member of a consumer group (cooperative-sticky assignment).
///
/// One thread reads. A partition that the group gives to this member begins behind the last record that cepd has taken
/// of it, else at the group's committed offset, else where `start` says; a kBegins message says so. The committed
/// offsets follow what stored() says is durable: they are for tools that show the lag, and for a member without state.
///
/// While the queue is full the thread waits, and so does the client library, which fetches no more than `prefetch`
/// ahead; after a second it pauses its partitions, so that it can go on answering the group.
///
/// While no broker is connected it is away(). A partition of which nothing is known yet is kQuiet once it turns out to
/// have no records.
///
/// Each topic is a part of the source (part_of), so a position names topic, partition and offset. The offset of a
/// record is Kafka's. Can be replayed as long as the brokers keep the records: reread() reads the same ones, outside
/// the group.
///
/// After stop() it stays in the group, for stored(), until it is destroyed.

#include <memory>
#include <string>

#include "adapters/kafka_options.h"
#include "adapters/source.h"

namespace cepd::adapters {

class KafkaSource final : public Source {
 public:
  KafkaSource(std::string name, KafkaOptions options);
  ~KafkaSource() override;

  Status start(MessageQueue& queue, const Positions& taken) override;
  void stop() override;
  bool replayable() const override { return true; }
  Result<std::unique_ptr<Rereader>> reread(const Positions& taken) override;
  void stored(const Positions& taken) override;
  bool away() const override;
  std::string status() const override;
  SourceId id() const override { return id_; }

 private:
  class Member;
  const SourceId id_;
  const KafkaOptions options_;
  std::shared_ptr<Member> member_;  // shared with a client of the library that does not end
};

}  // namespace cepd::adapters
