#include "bench/isolated.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/check.h"

namespace cepd::bench {
namespace {

/// What the process hands back, before its lines as JSON.
struct Handed {
  double returned = 0;
  bool right = true;
};

void write_all(int fd, const void* bytes, std::size_t size) {
  for (const char* at = static_cast<const char*>(bytes); size > 0;) {
    const ssize_t written = write(fd, at, size);
    if (written <= 0) _exit(1);
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

std::string read_all(int fd) {
  std::string out;
  char buffer[1 << 16];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(got));
  return out;
}

[[noreturn]] void child(int fd, const Context& context, const std::function<double(const Context&)>& work) {
  Report report;
  Handed handed;
  handed.returned = work({context.options, report});
  handed.right = report.right();
  write_all(fd, &handed, sizeof handed);
  write_all(fd, report.lines().data(), report.lines().size());
  // Not exit(): what this process has only inherited is not its to clean up.
  _exit(0);
}

}  // namespace

double isolated(const Context& context, const std::string& workload, const std::string& variant,
                const std::function<double(const Context&)>& work) {
  int ends[2];
  CEPD_CHECK(pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t pid = fork();
  CEPD_CHECK(pid >= 0);
  if (pid == 0) {
    close(ends[0]);
    child(ends[1], context, work);
  }
  close(ends[1]);
  const std::string handed_back = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0 || handed_back.size() < sizeof(Handed)) {
    context.report.add_died(workload, variant);
    return 0;
  }
  Handed handed;
  std::memcpy(&handed, handed_back.data(), sizeof handed);
  context.report.add_lines(handed_back.substr(sizeof handed), handed.right);
  return handed.returned;
}

}  // namespace cepd::bench
