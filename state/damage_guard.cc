#include "state/damage_guard.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <string_view>

namespace cepd::state {
namespace {

constexpr std::array kSignals{SIGBUS, SIGSEGV, SIGFPE, SIGABRT};
constexpr int kFailed = 1;  // the exit code

/// Read by a handler in the same thread.
constinit thread_local std::atomic<const char*> used_file = nullptr;

std::array<struct sigaction, kSignals.size()> before;
std::string* said_last = nullptr;  // never freed: the handler may run until the very end

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

const char* name_of(int signal) {
  switch (signal) {
    case SIGBUS:
      return "SIGBUS";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGFPE:
      return "SIGFPE";
    default:
      return "SIGABRT";
  }
}

/// Only what a signal handler may do.
extern "C" void handle(int signal, siginfo_t* /*info*/, void* /*context*/) {
  if (const char* file = used_file.load(std::memory_order_relaxed)) {
    write_all("cepd: ");
    write_all(file);
    write_all(" is damaged, or its disk fails: using it ended with ");
    write_all(name_of(signal));
    write_all(". Nothing was written over. ");
    write_all(*said_last);
    write_all("\n");
    ::_exit(kFailed);
  }
  // What there was before does it: the instruction is run again when this returns, or abort() goes on.
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) ::sigaction(signal, &before[i], nullptr);
  }
  if (signal == SIGABRT) ::raise(signal);
}

}  // namespace

void guard_damaged_files(std::string advice) {
  said_last = new std::string(std::move(advice));
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before[i]);
}

UsingFile::UsingFile(const std::string& path) : before_(used_file.load(std::memory_order_relaxed)) {
  used_file.store(path.c_str(), std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

UsingFile::~UsingFile() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  used_file.store(before_, std::memory_order_relaxed);
}

}  // namespace cepd::state
