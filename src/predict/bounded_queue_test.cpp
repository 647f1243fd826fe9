#include "predict/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace tacho {
namespace {

TEST(BoundedQueue, ValuesComeOutInTheirOrder) {
  BoundedQueue<int> queue(2);
  std::jthread producer([&] {
    for (int i = 0; i < 100; ++i) queue.push(i);
    queue.close();
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(queue.pop(), i);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, AFullOneLetsNobodyPush) {
  BoundedQueue<int> queue(1);
  queue.push(1);
  std::atomic<bool> pushed = false;
  std::jthread producer([&] { pushed = queue.push(2); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(pushed);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_GT(queue.push_wait_ms(), 0);
}

TEST(BoundedQueue, AnAbandonedOneEndsWhoeverWaits) {
  BoundedQueue<int> queue(1);
  queue.push(1);
  std::atomic<bool> refused = false;
  {
    std::jthread producer([&] { refused = !queue.push(2); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    queue.abandon();
  }
  EXPECT_TRUE(refused);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

}  // namespace
}  // namespace tacho
