// The CIFAR-100 images.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/data/cifar_files.hpp>
#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

// Which labels the images of CIFAR-100 have: 100 classes, or 20 superclasses of five each.
enum class CIFAR100Labels { fine, coarse };

// 32x32 colour photographs of a hundred kinds of things, from the official binary version (cifar-100-binary.tar.gz).
// The images are kept as bytes and transformed when they are read.
class CIFAR100 : public ImageDataset {
 public:
  // The 50,000 training images (train.bin) or the 10,000 test images (test.bin) in `folder` or its subfolder
  // cifar-100-binary. Files with fewer images are taken as they are. Throws Error if the file is missing, cannot be
  // read, is no file of CIFAR-100, or holds a label that there is not.
  template <class Transform = ToTensor>
  static CIFAR100 train(const std::string& folder, const Transform& transform = {},
                        CIFAR100Labels labels = CIFAR100Labels::fine) {
    return CIFAR100(folder, "train.bin", Pipeline(transform, CifarFiles::sizes), labels);
  }
  template <class Transform = ToTensor>
  static CIFAR100 test(const std::string& folder, const Transform& transform = {},
                       CIFAR100Labels labels = CIFAR100Labels::fine) {
    return CIFAR100(folder, "test.bin", Pipeline(transform, CifarFiles::sizes), labels);
  }

  // The names of the fine labels, and of the coarse ones.
  static constexpr std::array<std::string_view, 100> classes() {
    return {
        "apple",      "aquarium_fish", "baby",         "bear",       "beaver",      "bed",         "bee",
        "beetle",     "bicycle",       "bottle",       "bowl",       "boy",         "bridge",      "bus",
        "butterfly",  "camel",         "can",          "castle",     "caterpillar", "cattle",      "chair",
        "chimpanzee", "clock",         "cloud",        "cockroach",  "couch",       "crab",        "crocodile",
        "cup",        "dinosaur",      "dolphin",      "elephant",   "flatfish",    "forest",      "fox",
        "girl",       "hamster",       "house",        "kangaroo",   "keyboard",    "lamp",        "lawn_mower",
        "leopard",    "lion",          "lizard",       "lobster",    "man",         "maple_tree",  "motorcycle",
        "mountain",   "mouse",         "mushroom",     "oak_tree",   "orange",      "orchid",      "otter",
        "palm_tree",  "pear",          "pickup_truck", "pine_tree",  "plain",       "plate",       "poppy",
        "porcupine",  "possum",        "rabbit",       "raccoon",    "ray",         "road",        "rocket",
        "rose",       "sea",           "seal",         "shark",      "shrew",       "skunk",       "skyscraper",
        "snail",      "snake",         "spider",       "squirrel",   "streetcar",   "sunflower",   "sweet_pepper",
        "table",      "tank",          "telephone",    "television", "tiger",       "tractor",     "train",
        "trout",      "tulip",         "turtle",       "wardrobe",   "whale",       "willow_tree", "wolf",
        "woman",      "worm"};
  }
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

  index_t size() const override { return files_.size(); }
  // Image i, [3, 32, 32], before it is transformed.
  ImageBytes image(index_t i, std::vector<std::uint8_t>&) const override {
    return {files_.image(i), CifarFiles::sizes, labels_ == CIFAR100Labels::fine ? fine_label(i) : coarse_label(i)};
  }

  // Whatever the samples are labelled with.
  label_t fine_label(index_t i) const { return files_.label(i, 1); }
  label_t coarse_label(index_t i) const { return files_.label(i, 0); }

 private:
  static constexpr CifarFiles::Format format{"gpunet::data::CIFAR100: ",
                                             "cifar-100-binary",
                                             "cifar-100-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html, to ",
                                             50000,
                                             {20, 100},
                                             {"coarse label", "fine label"}};

  CIFAR100(const std::string& folder, std::string_view name, Pipeline pipeline, CIFAR100Labels labels)
      : ImageDataset(std::move(pipeline)), files_(format, folder, {name}), labels_(labels) {}

  CifarFiles files_;
  CIFAR100Labels labels_;
};

}  // namespace gpunet::data
