#include "app/control.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cepd::app {
namespace {

std::string pid_file(const std::string& directory) { return directory + "/cepd.pid"; }
std::string outcome_file(const std::string& directory) { return directory + "/reload"; }
std::string why() { return std::strerror(errno); }

std::string read_pid(int file) {
  char buffer[32] = {};
  const ssize_t size = ::pread(file, buffer, sizeof buffer - 1, 0);
  std::string pid(buffer, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid;
}

}  // namespace

Result<RunDirectory> RunDirectory::take(const std::string& directory) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) return error(Errc::kIo, "cannot make the run directory " + directory + ": " + failed.message());
  const int file = ::open(pid_file(directory).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return error(Errc::kIo, "cannot write " + pid_file(directory) + ": " + why());
  RunDirectory taken(directory, file);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    return error(Errc::kBusy, "another cepd (process " + read_pid(file) + ") runs with " + directory);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return error(Errc::kIo, "cannot write " + pid_file(directory) + ": " + why());
  }
  std::filesystem::remove(outcome_file(directory), failed);
  return taken;
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : directory_(std::move(other.directory_)), lock_(std::exchange(other.lock_, -1)) {}

RunDirectory::~RunDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

Status RunDirectory::write(const ReloadOutcome& outcome) {
  // By rename: a reader sees the old or the new one, whole.
  const std::string path = outcome_file(directory_);
  const std::string fresh = path + ".new";
  {
    std::ofstream out(fresh, std::ios::trunc);
    out << outcome.number << " " << (outcome.good ? "good" : "failed") << "\n" << outcome.text;
    if (!out.flush()) return error(Errc::kIo, "cannot write " + fresh + ": " + why());
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return error(Errc::kIo, "cannot write " + path + ": " + why());
  return {};
}

Result<int> running_process(const std::string& directory) {
  const Error none = error(Errc::kNotFound, "no cepd runs with " + directory);
  const int file = ::open(pid_file(directory).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return none;
  const bool locked = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const std::string pid = read_pid(file);
  ::close(file);
  if (!locked || pid.empty()) return none;
  return std::atoi(pid.c_str());
}

std::optional<ReloadOutcome> last_outcome(const std::string& directory) {
  std::ifstream in(outcome_file(directory));
  ReloadOutcome outcome;
  std::string word;
  if (!(in >> outcome.number >> word)) return std::nullopt;
  outcome.good = word == "good";
  in.get();  // the line end
  std::ostringstream text;
  text << in.rdbuf();
  outcome.text = std::move(text).str();
  return outcome;
}

}  // namespace cepd::app
