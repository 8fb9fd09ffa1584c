// All bodies of this folder for Cuda, a part of the compiled library.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/model/batch_loss.ipp>
#include <gpunet/model/lerp.ipp>
#include <gpunet/model/network.ipp>  // before the next two, which need it
#include <gpunet/model/output.ipp>
#include <gpunet/model/predictor.ipp>
#include <gpunet/model/published_weights.ipp>
#include <gpunet/model/save_load.ipp>

namespace gpunet {

template void Network<Cuda, float>::copy_state(const Network<Host, float>&);
template void Network<Cuda, double>::copy_state(const Network<Host, double>&);
template void Network<Host, float>::copy_state(const Network<Cuda, float>&);
template void Network<Host, double>::copy_state(const Network<Cuda, double>&);

template void detail::Published<Cuda, float>::publish(const Network<Host, float>&);
template void detail::Published<Cuda, double>::publish(const Network<Host, double>&);
template void detail::Published<Host, float>::publish(const Network<Cuda, float>&);
template void detail::Published<Host, double>::publish(const Network<Cuda, double>&);

template io::IncompatibleKeys io::load(Network<Cuda, float>&, const Network<Host, float>&,
                                       const io::LoadOptions&);
template io::IncompatibleKeys io::load(Network<Cuda, double>&, const Network<Host, double>&,
                                       const io::LoadOptions&);
template io::IncompatibleKeys io::load(Network<Host, float>&, const Network<Cuda, float>&,
                                       const io::LoadOptions&);
template io::IncompatibleKeys io::load(Network<Host, double>&, const Network<Cuda, double>&,
                                       const io::LoadOptions&);

}  // namespace gpunet
