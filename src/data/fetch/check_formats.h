#pragma once

#include <filesystem>

#include "fetch/checker.h"

namespace bntt {

// One function per data set; `directory` is the one that its loader takes.
void check_cifar10(const std::filesystem::path& directory, Checker& checker);
void check_cifar100(const std::filesystem::path& directory, Checker& checker);
void check_mnist(const std::filesystem::path& directory, Checker& checker);
void check_fashion_mnist(const std::filesystem::path& directory, Checker& checker);
void check_dvs_cifar10(const std::filesystem::path& directory, Checker& checker);
void check_dvs_gesture(const std::filesystem::path& directory, Checker& checker);
void check_nmnist(const std::filesystem::path& directory, Checker& checker);
void check_tiny_imagenet(const std::filesystem::path& directory, Checker& checker);
void check_event_folder(const std::filesystem::path& directory, Checker& checker);
void check_folder(const std::filesystem::path& directory, Checker& checker);

}  // namespace bntt
