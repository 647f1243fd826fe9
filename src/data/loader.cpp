#include "data/loader.h"

#include <utility>

#include "base/clock.h"
#include "base/cpu.h"

namespace tacho {

Loader::Loader(const ImageSet& set, const Normalization& normalization, LoaderOptions options)
    : set_(set),
      options_(std::move(options)),
      transform_(set, normalization, options_.image),
      order_(set.count(), options_.shuffle_seed),
      next_to_take_(options_.first_batch),
      next_to_give_(options_.first_batch) {
  const int64_t ahead = options_.batches_ahead();
  const int64_t plane_bytes = options_.image[0] * options_.image[1] * static_cast<int64_t>(sizeof(float));
  require_memory_for((ahead + 1) * options_.batch * set.channels(), plane_bytes);
  for (int64_t i = 0; i < ahead; ++i) idle_.push_back(make_work());
  given_ = make_work();
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

Loader::~Loader() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

Loader::Work Loader::make_work() const {
  const size_t batch = static_cast<size_t>(options_.batch);
  Work work;
  work.places.resize(batch);
  work.batch = {Tensor({options_.batch, set_.channels(), options_.image[0], options_.image[1]}, DType::f32),
                Tensor({options_.batch}, DType::i64), std::vector<int64_t>(batch)};
  return work;
}

const Batch& Loader::next() {
  const double begin = now_ms();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ != nullptr || ready_.contains(next_to_give_); });
  wait_ms_ += now_ms() - begin;
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  auto node = ready_.extract(next_to_give_++);
  std::swap(given_, node.mapped());
  idle_.push_back(std::move(node.mapped()));
  changed_.notify_all();
  return given_.batch;
}

void Loader::work(const std::stop_token& stop) {
  run_anywhere();
  Work work;
  while (take(stop, work)) {
    std::exception_ptr failure;
    try {
      fill(work);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    if (failure != nullptr) failure_ = failure;
    const int64_t number = work.number;
    ready_.emplace(number, std::move(work));
    changed_.notify_all();
  }
}

// The next batch to make and memory for it. False: the loader ends.
bool Loader::take(const std::stop_token& stop, Work& work) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [&] { return !idle_.empty(); })) return false;
  work = std::move(idle_.back());
  idle_.pop_back();
  work.number = next_to_take_++;
  const int64_t begin = (work.number * options_.ranks + options_.rank) * options_.batch;
  for (int64_t i = 0; i < options_.batch; ++i) work.places[static_cast<size_t>(i)] = order_.at(begin + i);
  return true;
}

void Loader::fill(Work& work) const {
  const auto floats = static_cast<size_t>(transform_.floats_per_image());
  const Random random = Random(options_.augmentation_seed).stream("augment");
  for (size_t i = 0; i < work.places.size(); ++i) {
    const auto [epoch, image] = work.places[i];
    const Random own = random.stream(static_cast<uint64_t>(epoch)).stream(static_cast<uint64_t>(image));
    const View2d view = draw_view(options_.augmentation, set_.image(), own);
    transform_.run(image, view, work.batch.images.values<float>().subspan(i * floats, floats));
    work.batch.labels.values<int64_t>()[i] = set_.labels[static_cast<size_t>(image)];
    work.batch.indices[i] = image;
  }
}

}  // namespace tacho
