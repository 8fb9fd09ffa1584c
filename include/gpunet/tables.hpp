// Tables in text files (CSV).
#pragma once

#include <gpunet/data/csv.hpp>
