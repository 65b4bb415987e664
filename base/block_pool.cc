#include "base/block_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace cepd {
namespace {

constexpr std::size_t kGrain = 16;        // bytes between two sizes
constexpr std::size_t kMaxBytes = 4096;   // larger blocks are not pooled
constexpr std::size_t kChain = 128;       // blocks that change hands together
constexpr std::size_t kMostChains = 512;  // of one size in the store; what is more goes back to the system
constexpr std::size_t kSizes = kMaxBytes / kGrain + 1;

struct Free {
  Free* next;
};
struct Chain {
  Free* first = nullptr;
  std::size_t count = 0;

  void push(void* block) {
    first = new (block) Free{first};
    ++count;
  }
  void* pop() {
    Free* block = first;
    first = block->next;
    --count;
    return block;
  }
  void free_all() {
    while (count > 0) ::operator delete(pop());
  }
};

struct OfThread;

/// What no thread keeps for itself.
class Store {
 public:
  static Store& instance() {
    static Store store;
    return store;
  }
  ~Store() {
    for (auto& chains : chains_) {
      for (Chain& chain : chains) chain.free_all();
    }
  }
  void put(std::size_t size, Chain chain) {
    {
      const std::lock_guard lock(mutex_);
      if (chains_[size].size() < kMostChains) {
        chains_[size].push_back(chain);
        return;
      }
    }
    chain.free_all();
  }
  Chain take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (chains_[size].empty()) return {};
    const Chain chain = chains_[size].back();
    chains_[size].pop_back();
    return chain;
  }

  void add(OfThread& thread) {
    const std::lock_guard lock(mutex_);
    threads_.push_back(&thread);
  }
  void remove(OfThread& thread);
  std::size_t in_use();

 private:
  std::mutex mutex_;
  std::array<std::vector<Chain>, kSizes> chains_;
  std::vector<OfThread*> threads_;
  std::int64_t in_use_ = 0;  // of threads that have ended
};

/// Two chains a size: one that blocks are taken from and given to, and a full or empty one beside it, so that a thread
/// that takes and gives in turns does not go to the store each time.
struct OfThread {
  std::array<Chain, kSizes> working, spare;
  std::atomic<std::int64_t> in_use = 0;  // below 0 where it releases what others have allocated
};
/// Needs no constructor, so that reading it is not a call that asks whether it has run.
constinit thread_local OfThread of_thread;

/// The store knows the thread while this lives.
struct Known {
  Known() { Store::instance().add(of_thread); }  // which must outlive it
  ~Known() {
    Store::instance().remove(of_thread);
    for (std::size_t size = 0; size < kSizes; ++size) {
      for (Chain* chain : {&of_thread.working[size], &of_thread.spare[size]}) {
        if (chain->count > 0) Store::instance().put(size, std::exchange(*chain, Chain{}));
      }
    }
  }
};
void make_known() { thread_local const Known known; }

void Store::remove(OfThread& thread) {
  const std::lock_guard lock(mutex_);
  threads_.erase(std::find(threads_.begin(), threads_.end(), &thread));
  in_use_ += thread.in_use.load(std::memory_order_relaxed);
}

std::size_t Store::in_use() {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = in_use_;
  for (const OfThread* thread : threads_) sum += thread->in_use.load(std::memory_order_relaxed);
  return static_cast<std::size_t>(std::max<std::int64_t>(sum, 0));
}

std::size_t size_of(std::size_t bytes) { return (bytes + kGrain - 1) / kGrain; }

/// Only this thread writes it, so that no locked instruction is needed.
void count(std::size_t size, std::int64_t sign) {
  const std::int64_t before = of_thread.in_use.load(std::memory_order_relaxed);
  of_thread.in_use.store(before + sign * static_cast<std::int64_t>(size * kGrain), std::memory_order_relaxed);
}

/// Of a chain from which no block can be taken.
void* allocate_where_empty(Chain& chain, std::size_t size) {
  make_known();
  std::swap(chain, of_thread.spare[size]);
  if (chain.count == 0) chain = Store::instance().take(size);
  if (chain.count == 0) return ::operator new(size* kGrain);
  return chain.pop();
}

/// To a chain that is empty or full.
void release_at_end(Chain& chain, void* block, std::size_t size) {
  make_known();
  if (chain.count == kChain) {
    if (of_thread.spare[size].count > 0) Store::instance().put(size, of_thread.spare[size]);
    of_thread.spare[size] = std::exchange(chain, Chain{});
  }
  chain.push(block);
}

}  // namespace

std::size_t BlockPool::in_use() { return Store::instance().in_use(); }

void* BlockPool::allocate(std::size_t bytes) {
  const std::size_t size = size_of(bytes);
  count(size, 1);
  if (bytes > kMaxBytes) {
    make_known();
    return ::operator new(bytes);
  }
  Chain& chain = of_thread.working[size];
  if (chain.count == 0) return allocate_where_empty(chain, size);
  return chain.pop();
}

void BlockPool::release(void* block, std::size_t bytes) {
  const std::size_t size = size_of(bytes);
  count(size, -1);
  if (bytes > kMaxBytes) {
    make_known();
    return ::operator delete(block);
  }
  Chain& chain = of_thread.working[size];
  if (chain.count == 0 || chain.count == kChain) return release_at_end(chain, block, size);
  chain.push(block);
}

}  // namespace cepd
