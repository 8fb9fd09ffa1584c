#include <doctest/doctest.h>
#include <stdexcept>
#include <thread>

#include <gpunet/data/batch_ring.hpp>

using gpunet::index_t;
using gpunet::data::BatchRing;

TEST_CASE("batches are begun in order, by whoever comes first") {
  BatchRing ring(2);
  ring.start(3);
  CHECK(ring.want(0));  // no worker has begun it
  CHECK(ring.begin_next() == 1);
  ring.finish(1, nullptr);
  CHECK_FALSE(ring.want(1));
  CHECK(ring.begin_next() == 2);
  CHECK(ring.slot(2) == ring.slot(0));
  ring.finish(2, nullptr);
  CHECK_FALSE(ring.want(2));
  CHECK(ring.begin_next() == -1);  // no batch is left
}

TEST_CASE("a worker waits for a slot, and the training thread for a worker") {
  BatchRing ring(2);
  ring.start(1000);
  index_t filled[2] = {-1, -1};
  std::thread worker([&] {
    for (index_t batch; (batch = ring.begin_next()) >= 0; ring.finish(batch, nullptr))
      filled[ring.slot(batch)] = batch;
  });
  bool in_order = true;
  for (index_t batch = 0; batch < 1000; ++batch) {
    if (ring.want(batch)) filled[ring.slot(batch)] = batch;
    in_order = in_order && filled[ring.slot(batch)] == batch;
  }
  worker.join();  // goes home by itself
  CHECK(in_order);
}

TEST_CASE("what kept a worker from filling a batch is thrown when that batch is wanted") {
  BatchRing ring(3);
  ring.start(2);
  CHECK(ring.begin_next() == 0);
  CHECK(ring.begin_next() == 1);
  ring.finish(1, std::make_exception_ptr(std::runtime_error("unreadable")));
  ring.finish(0, nullptr);
  CHECK_FALSE(ring.want(0));
  CHECK_THROWS_WITH_AS(ring.want(1), "unreadable", std::runtime_error);
}

TEST_CASE(
    "workers that wait for a slot go home when the loop is left, and come back for the next") {
  BatchRing ring(1);
  for (int epoch = 0; epoch < 2; ++epoch) {
    ring.start(5);
    CHECK(ring.want(0));
    CHECK_FALSE(ring.stopped());
    index_t begun = 0;
    std::thread worker([&] { begun = ring.begin_next(); });
    ring.stop();
    worker.join();
    CHECK(begun == -1);
    CHECK(ring.stopped());
  }
}
