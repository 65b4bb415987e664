// A Kafka client for the end-to-end tests: `kafka_tool BROKERS [TRANSACTIONAL_ID]` reads one JSON command a line from
// standard input and answers each, but `send`, with a line: {} or {"error":"..."} or what was asked for.
//
//   {"do":"send","topic":T,"partition":P,"key":K,"value":V,"headers":{H:V},"time":MS}   all but topic may be missing
//   {"do":"flush"}                                      waits until all that was sent is there
//   {"do":"create","topic":T,"partitions":N}  {"do":"delete","topic":T}  {"do":"grow","topic":T,"partitions":N}
//   {"do":"forget","topic":T,"partition":P,"before":OFFSET}      deletes the records before it
//   {"do":"committed","group":G,"topic":T,"partitions":N}        {"offsets":[...]}, -1001 for none
//   {"do":"read","topic":T,"partitions":N} {"records":[{"partition":P,"key":K,"value":V,"headers":{H:V}}]}, all there
//   are
//   {"do":"begin"}  {"do":"commit"}  {"do":"abort"}              transactions

#include <librdkafka/rdkafka.h>
#include <simdjson.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using simdjson::dom::element;

constexpr int kWaitMs = 30'000;

void check(rd_kafka_resp_err_t code) {
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(code));
}

void check(rd_kafka_error_t* failed) {
  if (failed == nullptr) return;
  const std::string text = rd_kafka_error_string(failed);
  rd_kafka_error_destroy(failed);
  throw std::runtime_error(text);
}

void set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
  char problem[512];
  if (rd_kafka_conf_set(conf, name, value.c_str(), problem, sizeof problem) != RD_KAFKA_CONF_OK)
    throw std::runtime_error(problem);
}

rd_kafka_t* client(rd_kafka_type_t type, rd_kafka_conf_t* conf) {
  char problem[512];
  rd_kafka_t* made = rd_kafka_new(type, conf, problem, sizeof problem);
  if (made == nullptr) throw std::runtime_error(problem);
  return made;
}

std::string text(const element& of, const char* name) { return std::string(std::string_view(of[name])); }
std::int64_t number(const element& of, const char* name) { return std::int64_t(of[name]); }
std::int64_t number(const element& of, const char* name, std::int64_t otherwise) {
  std::int64_t value = 0;
  return of[name].get(value) == simdjson::SUCCESS ? value : otherwise;
}

class Tool {
 public:
  Tool(std::string brokers, const std::string& transactions) : brokers_(std::move(brokers)) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", brokers_);
    set(conf, "enable.idempotence", "true");
    set(conf, "linger.ms", "5");
    set(conf, "queue.buffering.max.messages", "1000000");
    set(conf, "reconnect.backoff.max.ms", "500");
    if (!transactions.empty()) set(conf, "transactional.id", transactions);
    producer_ = client(RD_KAFKA_PRODUCER, conf);
    answers_ = rd_kafka_queue_new(producer_);
    if (!transactions.empty()) check(rd_kafka_init_transactions(producer_, kWaitMs));
  }
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;
  ~Tool() {
    rd_kafka_queue_destroy(answers_);
    rd_kafka_destroy(producer_);
  }

  /// Empty: nothing is to be said.
  std::string run(const element& command) {
    const std::string what = text(command, "do");
    if (what == "send") return send(command);
    if (what == "flush")
      check(rd_kafka_flush(producer_, kWaitMs));
    else if (what == "begin")
      check(rd_kafka_begin_transaction(producer_));
    else if (what == "commit")
      check(rd_kafka_commit_transaction(producer_, kWaitMs));
    else if (what == "abort")
      check(rd_kafka_abort_transaction(producer_, kWaitMs));
    else if (what == "create")
      create(text(command, "topic"), static_cast<int>(number(command, "partitions")));
    else if (what == "delete")
      remove(text(command, "topic"));
    else if (what == "grow")
      grow(text(command, "topic"), static_cast<std::size_t>(number(command, "partitions")));
    else if (what == "forget")
      forget(command);
    else if (what == "committed")
      return committed(command);
    else if (what == "read")
      return read(command);
    else
      throw std::runtime_error("unknown command " + what);
    return "{}";
  }

 private:
  std::string send(const element& command) {
    element found;
    const std::int64_t partition = number(command, "partition", RD_KAFKA_PARTITION_UA),
                       time = number(command, "time", 0);
    std::string_view key, value;
    const bool has_key = command["key"].get(key) == simdjson::SUCCESS;
    const bool has_value = command["value"].get(value) == simdjson::SUCCESS;
    rd_kafka_headers_t* headers = rd_kafka_headers_new(2);
    if (command["headers"].get(found) == simdjson::SUCCESS) {
      for (const auto& [name, header] : simdjson::dom::object(found)) {
        const std::string_view content(header);
        rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), content.data(),
                            static_cast<ssize_t>(content.size()));
      }
    }
    const std::string topic = text(command, "topic");
    while (true) {
      const auto code = rd_kafka_producev(
          producer_, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(static_cast<std::int32_t>(partition)),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(has_key ? key.data() : nullptr, key.size()),
          RD_KAFKA_V_VALUE(has_value ? const_cast<char*>(value.data()) : nullptr, value.size()),
          RD_KAFKA_V_TIMESTAMP(time), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) break;
      if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) check(code);
      rd_kafka_poll(producer_, 100);
    }
    rd_kafka_poll(producer_, 0);
    return {};
  }

  /// The outcome of what was asked for last.
  template <class Look>
  void answer(Look look) {
    rd_kafka_event_t* event = rd_kafka_queue_poll(answers_, kWaitMs);
    if (event == nullptr) throw std::runtime_error("the broker does not answer");
    const std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)> owner(event, rd_kafka_event_destroy);
    check(rd_kafka_event_error(event));
    look(event);
  }

  static void check_topics(const rd_kafka_topic_result_t** results, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) check(rd_kafka_topic_result_error(results[i]));
  }

  void create(const std::string& topic, int partitions) {
    char problem[512];
    rd_kafka_NewTopic_t* made = rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, problem, sizeof problem);
    rd_kafka_CreateTopics(producer_, &made, 1, nullptr, answers_);
    rd_kafka_NewTopic_destroy(made);
    answer([](rd_kafka_event_t* event) {
      std::size_t count = 0;
      const auto* result = rd_kafka_event_CreateTopics_result(event);
      check_topics(rd_kafka_CreateTopics_result_topics(result, &count), count);
    });
    await_partitions(topic, static_cast<std::size_t>(partitions));
  }

  void remove(const std::string& topic) {
    rd_kafka_DeleteTopic_t* gone = rd_kafka_DeleteTopic_new(topic.c_str());
    rd_kafka_DeleteTopics(producer_, &gone, 1, nullptr, answers_);
    rd_kafka_DeleteTopic_destroy(gone);
    answer([](rd_kafka_event_t* event) {
      std::size_t count = 0;
      const auto* result = rd_kafka_event_DeleteTopics_result(event);
      check_topics(rd_kafka_DeleteTopics_result_topics(result, &count), count);
    });
  }

  void grow(const std::string& topic, std::size_t partitions) {
    char problem[512];
    rd_kafka_NewPartitions_t* more = rd_kafka_NewPartitions_new(topic.c_str(), partitions, problem, sizeof problem);
    rd_kafka_CreatePartitions(producer_, &more, 1, nullptr, answers_);
    rd_kafka_NewPartitions_destroy(more);
    answer([](rd_kafka_event_t* event) {
      std::size_t count = 0;
      const auto* result = rd_kafka_event_CreatePartitions_result(event);
      check_topics(rd_kafka_CreatePartitions_result_topics(result, &count), count);
    });
    await_partitions(topic, partitions);
  }

  /// Until the producer knows them: it refuses what is for others.
  void await_partitions(const std::string& name, std::size_t partitions) {
    const std::unique_ptr<rd_kafka_topic_t, decltype(&rd_kafka_topic_destroy)> topic(
        rd_kafka_topic_new(producer_, name.c_str(), nullptr), rd_kafka_topic_destroy);
    for (std::size_t known = 0; known < partitions;) {
      const rd_kafka_metadata_t* metadata = nullptr;
      check(rd_kafka_metadata(producer_, 0, topic.get(), &metadata, kWaitMs));
      known = metadata->topic_cnt > 0 ? static_cast<std::size_t>(metadata->topics[0].partition_cnt) : 0;
      rd_kafka_metadata_destroy(metadata);
    }
  }

  void forget(const element& command) {
    rd_kafka_topic_partition_list_t* before = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(before, text(command, "topic").c_str(),
                                      static_cast<std::int32_t>(number(command, "partition")))
        ->offset = number(command, "before");
    rd_kafka_DeleteRecords_t* records = rd_kafka_DeleteRecords_new(before);
    rd_kafka_DeleteRecords(producer_, &records, 1, nullptr, answers_);
    rd_kafka_DeleteRecords_destroy(records);
    rd_kafka_topic_partition_list_destroy(before);
    answer([](rd_kafka_event_t* event) {
      const auto* offsets = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
      for (int i = 0; i < offsets->cnt; ++i) check(offsets->elems[i].err);
    });
  }

  std::string committed(const element& command) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", brokers_);
    set(conf, "group.id", text(command, "group"));
    const std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> reader(client(RD_KAFKA_CONSUMER, conf),
                                                                          rd_kafka_destroy);
    const std::unique_ptr<rd_kafka_topic_partition_list_t, decltype(&rd_kafka_topic_partition_list_destroy)> offsets(
        rd_kafka_topic_partition_list_new(1), rd_kafka_topic_partition_list_destroy);
    const std::string topic = text(command, "topic");
    for (std::int64_t i = 0; i < number(command, "partitions"); ++i)
      rd_kafka_topic_partition_list_add(offsets.get(), topic.c_str(), static_cast<std::int32_t>(i));
    check(rd_kafka_committed(reader.get(), offsets.get(), kWaitMs));
    std::string out = "{\"offsets\":[";
    for (int i = 0; i < offsets->cnt; ++i) out += (i ? "," : "") + std::to_string(offsets->elems[i].offset);
    return out + "]}";
  }

  std::string read(const element& command) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", brokers_);
    set(conf, "group.id", "kafka_tool");
    set(conf, "enable.auto.commit", "false");
    set(conf, "enable.partition.eof", "true");
    set(conf, "fetch.wait.max.ms", "50");
    const std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> reader(client(RD_KAFKA_CONSUMER, conf),
                                                                          rd_kafka_destroy);
    const std::unique_ptr<rd_kafka_topic_partition_list_t, decltype(&rd_kafka_topic_partition_list_destroy)> from(
        rd_kafka_topic_partition_list_new(1), rd_kafka_topic_partition_list_destroy);
    const std::string topic = text(command, "topic");
    std::int64_t open = number(command, "partitions");
    for (std::int64_t i = 0; i < open; ++i)
      rd_kafka_topic_partition_list_add(from.get(), topic.c_str(), static_cast<std::int32_t>(i))->offset =
          RD_KAFKA_OFFSET_BEGINNING;
    check(rd_kafka_assign(reader.get(), from.get()));
    std::string out = "{\"records\":[";
    while (open > 0) {
      const std::unique_ptr<rd_kafka_message_t, decltype(&rd_kafka_message_destroy)> record(
          rd_kafka_consumer_poll(reader.get(), kWaitMs), rd_kafka_message_destroy);
      if (!record) throw std::runtime_error("the broker does not answer");
      if (record->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        --open;
        continue;
      }
      check(record->err);
      out += (out.ends_with('[') ? "" : ",") + shown(*record);
    }
    rd_kafka_consumer_close(reader.get());
    return out + "]}";
  }

  static std::string shown(const rd_kafka_message_t& record) {
    std::string out = "{\"partition\":" + std::to_string(record.partition) +
                      ",\"key\":" + quoted(record.key, record.key_len) +
                      ",\"value\":" + quoted(record.payload, record.len) + ",\"headers\":{";
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&record, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const char* name = nullptr;
      const void* value = nullptr;
      std::size_t size = 0;
      for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
           ++i)
        out += (i ? "," : "") + quoted(name, std::string_view(name).size()) + ":" + quoted(value, size);
    }
    return out + "}}";
  }

  /// As a JSON string; null for what is not there.
  static std::string quoted(const void* bytes, std::size_t size) {
    if (bytes == nullptr) return "null";
    std::string out = "\"";
    for (const char c : std::string_view(static_cast<const char*>(bytes), size)) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + '"';
  }

  const std::string brokers_;
  rd_kafka_t* producer_ = nullptr;
  rd_kafka_queue_t* answers_ = nullptr;
};

std::string as_error(std::string what) {
  for (char& c : what) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) c = '\'';
  }
  return "{\"error\":\"" + what + "\"}";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: kafka_tool BROKERS [TRANSACTIONAL_ID]\n";
    return 2;
  }
  try {
    Tool tool(argv[1], argc > 2 ? argv[2] : "");
    simdjson::dom::parser parser;
    for (std::string line; std::getline(std::cin, line);) {
      std::string said;
      try {
        said = tool.run(parser.parse(line));
      } catch (const std::exception& e) {
        said = as_error(e.what());
      }
      if (!said.empty()) std::cout << said << std::endl;
    }
  } catch (const std::exception& e) {
    std::cout << as_error(e.what()) << std::endl;
    return 1;
  }
  return 0;
}
