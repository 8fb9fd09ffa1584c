// Printed by branches.py with PyTorch 2.15.0.
#pragma once

namespace reference {

// Twelve steps of SGD on one batch.
inline constexpr double resnet_losses[] = {
    1.30349674367974,   1.02375710444372,    0.908906964262106,   0.119924027037664,
    0.0871681403870462, 0.0311531048574189,  0.0127393119387758,  0.00702132079082608,
    0.0041187595638767, 0.00245134212870841, 0.00148584202357774, 0.000990835290746554};
inline constexpr double inception_losses[] = {
    0.979376319335161,  0.878099380755023,  0.738905991074199,  0.582285245027691,
    0.411677421541689,  0.267556056098409,  0.164663013614427,  0.0932637387337606,
    0.0491859370624297, 0.0255394681365688, 0.0136441596052477, 0.00764755285393735};
// The parameters of the former, in order.
inline constexpr const char* resnet_keys[] = {"conv1.weight",
                                              "bn1.weight",
                                              "bn1.bias",
                                              "layer1.0.conv1.weight",
                                              "layer1.0.bn1.weight",
                                              "layer1.0.bn1.bias",
                                              "layer1.0.conv2.weight",
                                              "layer1.0.bn2.weight",
                                              "layer1.0.bn2.bias",
                                              "layer1.1.conv1.weight",
                                              "layer1.1.bn1.weight",
                                              "layer1.1.bn1.bias",
                                              "layer1.1.conv2.weight",
                                              "layer1.1.bn2.weight",
                                              "layer1.1.bn2.bias",
                                              "layer2.0.conv1.weight",
                                              "layer2.0.bn1.weight",
                                              "layer2.0.bn1.bias",
                                              "layer2.0.conv2.weight",
                                              "layer2.0.bn2.weight",
                                              "layer2.0.bn2.bias",
                                              "layer2.0.downsample.0.weight",
                                              "layer2.0.downsample.1.weight",
                                              "layer2.0.downsample.1.bias",
                                              "layer2.1.conv1.weight",
                                              "layer2.1.bn1.weight",
                                              "layer2.1.bn1.bias",
                                              "layer2.1.conv2.weight",
                                              "layer2.1.bn2.weight",
                                              "layer2.1.bn2.bias",
                                              "fc.weight",
                                              "fc.bias"};

}  // namespace reference
