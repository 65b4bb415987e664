#pragma once
/// How `cepd status` asks a running daemon: over the socket <run_directory>/cepd.sock, which only its own user may use.

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "app/figures.h"
#include "app/metrics_page.h"
#include "app/status_page.h"
#include "base/result.h"

namespace cepd::app {

/// A thread of its own, which reads figures through the box and never holds up who puts them there.
class StatusServer {
 public:
  /// Answers from now on. Whoever calls it holds the run directory (RunDirectory), so a socket that is there is left
  /// over. `wake` as for FigureBox::get(). All outlive the server. Errors: kIo.
  static Result<std::unique_ptr<StatusServer>> start(const std::string& run_directory, FigureBox& figures,
                                                     std::function<void()> wake, const PageSources& sources);
  ~StatusServer();
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

 private:
  StatusServer(std::string path, int listener, int stopper, FigureBox& figures, std::function<void()> wake,
               const PageSources& sources);
  void run();
  void answer(int client);

  const std::string path_;
  const int listener_, stopper_;
  FigureBox& figures_;
  const std::function<void()> wake_;
  const PageSources sources_;
  std::thread thread_;
};

/// The other side. Errors: kNotFound no daemon runs with this directory; kIo it does not answer.
Result<std::string> ask_status(const std::string& run_directory, StatusForm form);

}  // namespace cepd::app
