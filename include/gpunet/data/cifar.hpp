// The CIFAR-10 and CIFAR-100 images.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

namespace detail {

// Describes the files of one of the two datasets.
struct CifarFormat {
  std::string_view where;                       // prefix of messages
  std::string_view subfolder;                   // of the archive
  std::string_view python_subfolder;            // of the archive of pickles
  std::string_view cure;                        // how to get the files; the folder is appended
  std::size_t max_records;                      // in a file
  std::array<int, 2> classes;                   // of each label byte; 0: there is no second one
  std::array<std::string_view, 2> label_names;  // for messages

  std::size_t labels() const { return classes[1] > 0 ? 2 : 1; }
  std::size_t record_bytes() const;
};

// The records of some CIFAR files, in memory: one or two label bytes, then 32 x 32 bytes each of
// red, green and blue.
class CifarImages : public ImageDataset {
 public:
  GPUNET_INLINE_VIRTUAL index_t size() const override;
  // Returns image i, [3, 32, 32], before it is transformed.
  GPUNET_INLINE_VIRTUAL ImageBytes image(index_t i, std::vector<std::uint8_t>&) const override;

 protected:
  static constexpr ImageSizes sizes{3, 32, 32};

  // Reads the files `names` in `folder` or its subfolder. Byte `which_label` of a record is the
  // label.
  CifarImages(const CifarFormat& format, std::size_t which_label, std::string folder,
              std::initializer_list<std::string_view> names, Pipeline pipeline);

  const std::uint8_t* record(index_t i) const;

 private:
  // Appends the records of one of `files` files to `bytes`.
  void append_file(std::vector<std::uint8_t>& bytes, const std::string& path, std::string_view name,
                   std::size_t files, const std::string& cure);

  const CifarFormat* format_;
  std::size_t which_label_;
  SharedData<std::vector<std::uint8_t>> bytes_{{}};  // [size()][record_bytes]
};

}  // namespace detail

// CIFAR-10: 32 x 32 color photographs of ten classes, from the official binary version
// (cifar-10-binary.tar.gz). Images are stored as bytes and transformed when they are read.
class CIFAR10 : public detail::CifarImages {
 public:
  // The 50,000 training images (data_batch_1.bin to data_batch_5.bin) or the 10,000 test images
  // (test_batch.bin) in `folder` or its subfolder cifar-10-batches-bin. Files may have fewer
  // images. Throws Error if a file is missing, unreadable or not a file of CIFAR-10, or if a label
  // is greater than 9.
  template <class Transform = ToTensor>
  static CIFAR10 train(const std::string& folder, const Transform& transform = {}) {
    return {folder, true, Pipeline(transform, sizes)};
  }
  template <class Transform = ToTensor>
  static CIFAR10 test(const std::string& folder, const Transform& transform = {}) {
    return {folder, false, Pipeline(transform, sizes)};
  }

  // The names of the classes.
  static constexpr std::array<std::string_view, 10> classes() {
    return {"plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  }

 private:
  CIFAR10(const std::string& folder, bool train, Pipeline pipeline);
};

// Which labels CIFAR100 returns: the 100 classes or the 20 superclasses of five classes each.
enum class CIFAR100Labels { fine, coarse };

// CIFAR-100: 32 x 32 color photographs of a hundred classes, from the official binary version
// (cifar-100-binary.tar.gz). Images are stored as bytes and transformed when they are read.
class CIFAR100 : public detail::CifarImages {
 public:
  // The 50,000 training images (train.bin) or the 10,000 test images (test.bin) in `folder` or its
  // subfolder cifar-100-binary. Files may have fewer images. Throws Error if the file is missing,
  // unreadable or not a file of CIFAR-100, or if a label is out of range.
  template <class Transform = ToTensor>
  static CIFAR100 train(const std::string& folder, const Transform& transform = {},
                        CIFAR100Labels labels = CIFAR100Labels::fine) {
    return {folder, "train.bin", Pipeline(transform, sizes), labels};
  }
  template <class Transform = ToTensor>
  static CIFAR100 test(const std::string& folder, const Transform& transform = {},
                       CIFAR100Labels labels = CIFAR100Labels::fine) {
    return {folder, "test.bin", Pipeline(transform, sizes), labels};
  }

  // The names of the fine labels.
  static constexpr std::array<std::string_view, 100> classes() {
    return {
        "apple",       "aquarium_fish", "baby",      "bear",       "beaver",       "bed",
        "bee",         "beetle",        "bicycle",   "bottle",     "bowl",         "boy",
        "bridge",      "bus",           "butterfly", "camel",      "can",          "castle",
        "caterpillar", "cattle",        "chair",     "chimpanzee", "clock",        "cloud",
        "cockroach",   "couch",         "crab",      "crocodile",  "cup",          "dinosaur",
        "dolphin",     "elephant",      "flatfish",  "forest",     "fox",          "girl",
        "hamster",     "house",         "kangaroo",  "keyboard",   "lamp",         "lawn_mower",
        "leopard",     "lion",          "lizard",    "lobster",    "man",          "maple_tree",
        "motorcycle",  "mountain",      "mouse",     "mushroom",   "oak_tree",     "orange",
        "orchid",      "otter",         "palm_tree", "pear",       "pickup_truck", "pine_tree",
        "plain",       "plate",         "poppy",     "porcupine",  "possum",       "rabbit",
        "raccoon",     "ray",           "road",      "rocket",     "rose",         "sea",
        "seal",        "shark",         "shrew",     "skunk",      "skyscraper",   "snail",
        "snake",       "spider",        "squirrel",  "streetcar",  "sunflower",    "sweet_pepper",
        "table",       "tank",          "telephone", "television", "tiger",        "tractor",
        "train",       "trout",         "tulip",     "turtle",     "wardrobe",     "whale",
        "willow_tree", "wolf",          "woman",     "worm"};
  }
  // The names of the coarse labels.
  static constexpr std::array<std::string_view, 20> superclasses() {
    return {"aquatic_mammals",
            "fish",
            "flowers",
            "food_containers",
            "fruit_and_vegetables",
            "household_electrical_devices",
            "household_furniture",
            "insects",
            "large_carnivores",
            "large_man-made_outdoor_things",
            "large_natural_outdoor_scenes",
            "large_omnivores_and_herbivores",
            "medium_mammals",
            "non-insect_invertebrates",
            "people",
            "reptiles",
            "small_mammals",
            "trees",
            "vehicles_1",
            "vehicles_2"};
  }

  // Both labels of image i.
  label_t fine_label(index_t i) const { return record(i)[1]; }
  label_t coarse_label(index_t i) const { return record(i)[0]; }

 private:
  CIFAR100(const std::string& folder, std::string_view file, Pipeline pipeline,
           CIFAR100Labels labels);
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/cifar.ipp>
#endif
