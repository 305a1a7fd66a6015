# SPDX-License-Identifier: MIT
"""The networks of models/ as PyTorch modules, written from their papers. Parameters have the names of models/. A slash, as in
Caffe's names, is a dot in PyTorch. make_network_cases.py and bench/torch_train.py use these modules."""
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


def conv(inputs, outputs, kernel, stride=1, padding=0, **more):
    return nn.Conv2d(inputs, outputs, kernel, stride, padding, **more)


def relu():
    return nn.ReLU(inplace=True)


def named(*pairs):
    return nn.Sequential(OrderedDict(pairs))


def lenet():
    return nn.Sequential(conv(1, 20, 5), nn.MaxPool2d(2), conv(20, 50, 5), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(800, 500), relu(), nn.Linear(500, 10))


def cifar():
    return nn.Sequential(conv(3, 16, 5, padding=2), relu(), nn.MaxPool2d(2), conv(16, 20, 5, padding=2), relu(), nn.MaxPool2d(2),
                         conv(20, 20, 5, padding=2), relu(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(320, 10))


def alexnet():
    """Krizhevsky et al. 2012, in the form of Caffe's reference model: pooling before normalization."""
    def norm():
        return nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1)
    return named(("conv1", conv(3, 96, 11, 4)), ("relu1", relu()), ("pool1", nn.MaxPool2d(3, 2)), ("norm1", norm()),
                 ("conv2", conv(96, 256, 5, padding=2, groups=2)), ("relu2", relu()), ("pool2", nn.MaxPool2d(3, 2)), ("norm2", norm()),
                 ("conv3", conv(256, 384, 3, padding=1)), ("relu3", relu()),
                 ("conv4", conv(384, 384, 3, padding=1, groups=2)), ("relu4", relu()),
                 ("conv5", conv(384, 256, 3, padding=1, groups=2)), ("relu5", relu()), ("pool5", nn.MaxPool2d(3, 2)),
                 ("flatten", nn.Flatten()),
                 ("fc6", nn.Linear(9216, 4096)), ("relu6", relu()), ("drop6", nn.Dropout(0.5)),
                 ("fc7", nn.Linear(4096, 4096)), ("relu7", relu()), ("drop7", nn.Dropout(0.5)), ("fc8", nn.Linear(4096, 1000)))


def vgg16():
    """Simonyan, Zisserman 2014: model D."""
    layers, inputs = [], 3
    for block, (outputs, count) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)], 1):
        for i in range(1, count + 1):
            layers += [(f"conv{block}_{i}", conv(inputs, outputs, 3, padding=1)), (f"relu{block}_{i}", relu())]
            inputs = outputs
        layers.append((f"pool{block}", nn.MaxPool2d(2)))
    return named(*layers, ("flatten", nn.Flatten()),
                 ("fc6", nn.Linear(25088, 4096)), ("relu6", relu()), ("drop6", nn.Dropout(0.5)),
                 ("fc7", nn.Linear(4096, 4096)), ("relu7", relu()), ("drop7", nn.Dropout(0.5)), ("fc8", nn.Linear(4096, 1000)))


class Inception(nn.Module):
    """Four branches joined: 1x1; 3x3 and 5x5, each after a reduction; pooling and its projection."""

    def __init__(self, inputs, one, reduce3, three, reduce5, five, pool):
        super().__init__()
        for name, module in (("1x1", conv(inputs, one, 1)),
                             ("3x3_reduce", conv(inputs, reduce3, 1)), ("3x3", conv(reduce3, three, 3, padding=1)),
                             ("5x5_reduce", conv(inputs, reduce5, 1)), ("5x5", conv(reduce5, five, 5, padding=2)),
                             ("pool", nn.MaxPool2d(3, 1, 1)), ("pool_proj", conv(inputs, pool, 1))):
            self.add_module(name, module)

    def forward(self, x):
        def branch(*names):
            y = x
            for name in names:
                y = self._modules[name](y)
                if name != "pool":
                    y = F.relu(y, inplace=True)
            return y
        return torch.cat([branch("1x1"), branch("3x3_reduce", "3x3"), branch("5x5_reduce", "5x5"), branch("pool", "pool_proj")], 1)


def auxiliary(inputs):
    return named(("ave_pool", nn.AvgPool2d(5, 3)), ("conv", conv(inputs, 128, 1)), ("relu_conv", relu()), ("flatten", nn.Flatten()),
                 ("fc", nn.Linear(2048, 1024)), ("relu_fc", relu()), ("drop_fc", nn.Dropout(0.7)), ("classifier", nn.Linear(1024, 1000)))


class GoogLeNet(nn.Module):
    """Szegedy et al. 2014. In training it returns its logits and the logits of the two auxiliary classifiers."""

    def __init__(self):
        super().__init__()
        def pool():
            return nn.MaxPool2d(3, 2, ceil_mode=True)
        def norm():
            return nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1)
        self.conv1 = named(("7x7_s2", conv(3, 64, 7, 2, 3)), ("relu", relu()))
        self.pool1 = named(("3x3_s2", pool()), ("norm1", norm()))
        self.conv2 = named(("3x3_reduce", conv(64, 64, 1)), ("relu_reduce", relu()), ("3x3", conv(64, 192, 3, padding=1)), ("relu", relu()),
                           ("norm2", norm()))
        self.pool2 = named(("3x3_s2", pool()))
        self.inception_3a = Inception(192, 64, 96, 128, 16, 32, 32)
        self.inception_3b = Inception(256, 128, 128, 192, 32, 96, 64)
        self.pool3 = named(("3x3_s2", pool()))
        self.inception_4a = Inception(480, 192, 96, 208, 16, 48, 64)
        self.loss1 = auxiliary(512)
        self.inception_4b = Inception(512, 160, 112, 224, 24, 64, 64)
        self.inception_4c = Inception(512, 128, 128, 256, 24, 64, 64)
        self.inception_4d = Inception(512, 112, 144, 288, 32, 64, 64)
        self.loss2 = auxiliary(528)
        self.inception_4e = Inception(528, 256, 160, 320, 32, 128, 128)
        self.pool4 = named(("3x3_s2", pool()))
        self.inception_5a = Inception(832, 256, 160, 320, 32, 128, 128)
        self.inception_5b = Inception(832, 384, 192, 384, 48, 128, 128)
        self.pool5 = named(("7x7_s1", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()), ("drop_7x7_s1", nn.Dropout(0.4)))
        self.loss3 = named(("classifier", nn.Linear(1024, 1000)))

    def forward(self, x):
        x = self.pool2(self.conv2(self.pool1(self.conv1(x))))
        a = self.inception_4a(self.pool3(self.inception_3b(self.inception_3a(x))))
        d = self.inception_4d(self.inception_4c(self.inception_4b(a)))
        x = self.inception_5b(self.inception_5a(self.pool4(self.inception_4e(d))))
        logits = self.loss3(self.pool5(x))
        return (logits, self.loss1(a), self.loss2(d)) if self.training else logits


class Residual(nn.Module):
    """He et al. 2015: two 3x3 convolutions, or a bottleneck whose stride is in the 3x3."""

    def __init__(self, inputs, width, stride, bottleneck):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        convolutions = ([conv(inputs, width, 1, bias=False), conv(width, width, 3, stride, 1, bias=False), conv(width, outputs, 1, bias=False)]
                        if bottleneck else [conv(inputs, width, 3, stride, 1, bias=False), conv(width, width, 3, 1, 1, bias=False)])
        self.count = len(convolutions)
        for i, module in enumerate(convolutions, 1):
            self.add_module(f"conv{i}", module)
            self.add_module(f"bn{i}", nn.BatchNorm2d(module.out_channels))
        if stride > 1 or inputs != outputs:
            self.downsample = nn.Sequential(conv(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = x
        for i in range(1, self.count + 1):
            y = self._modules[f"bn{i}"](self._modules[f"conv{i}"](y))
            if i < self.count:
                y = F.relu(y, inplace=True)
        y += self.downsample(x) if hasattr(self, "downsample") else x
        return F.relu(y, inplace=True)


def resnet(blocks, bottleneck):
    groups, inputs = [], 64
    for i, count in enumerate(blocks):
        group = []
        for j in range(count):
            group.append(Residual(inputs, 64 << i, 2 if i > 0 and j == 0 else 1, bottleneck))
            inputs = (256 if bottleneck else 64) << i
        groups.append((f"layer{i + 1}", nn.Sequential(*group)))
    return named(("conv1", conv(3, 64, 7, 2, 3, bias=False)), ("bn1", nn.BatchNorm2d(64)), ("relu", relu()), ("maxpool", nn.MaxPool2d(3, 2, 1)),
                 *groups, ("avgpool", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()), ("fc", nn.Linear(inputs, 1000)))


def resnet18():
    return resnet((2, 2, 2, 2), False)


def resnet50():
    return resnet((3, 4, 6, 3), True)


def mobilenet():
    """Howard et al. 2017: width 1.0."""
    layers = []

    def add(name, module):
        layers.extend([(name, module), (name + "_bn", nn.BatchNorm2d(module.out_channels)), (name + "_relu", relu())])
    add("conv1", conv(3, 32, 3, 2, 1, bias=False))
    inputs = 32
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for i, (outputs, stride) in enumerate(blocks, 1):
        add(f"conv_dw_{i}", conv(inputs, inputs, 3, stride, 1, groups=inputs, bias=False))
        add(f"conv_pw_{i}", conv(inputs, outputs, 1, bias=False))
        inputs = outputs
    return named(*layers, ("pool", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()), ("fc", nn.Linear(1024, 1000)))


class Fire(nn.Module):
    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self.squeeze1x1 = conv(inputs, squeeze, 1)
        self.expand1x1 = conv(squeeze, expand, 1)
        self.expand3x3 = conv(squeeze, expand, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze1x1(x), inplace=True)
        return torch.cat([F.relu(self.expand1x1(x), inplace=True), F.relu(self.expand3x3(x), inplace=True)], 1)


def squeezenet():
    """Iandola et al. 2016: version 1.1."""
    def pool():
        return nn.MaxPool2d(3, 2, ceil_mode=True)
    return named(("conv1", conv(3, 64, 3, 2)), ("relu_conv1", relu()), ("pool1", pool()),
                 ("fire2", Fire(64, 16, 64)), ("fire3", Fire(128, 16, 64)), ("pool3", pool()),
                 ("fire4", Fire(128, 32, 128)), ("fire5", Fire(256, 32, 128)), ("pool5", pool()),
                 ("fire6", Fire(256, 48, 192)), ("fire7", Fire(384, 48, 192)), ("fire8", Fire(384, 64, 256)), ("fire9", Fire(512, 64, 256)),
                 ("drop9", nn.Dropout(0.5)), ("conv10", conv(512, 1000, 1)), ("relu_conv10", relu()), ("pool10", nn.AdaptiveAvgPool2d(1)),
                 ("flatten", nn.Flatten()))


# name: (function that makes the module, shape of a picture)
NETWORKS = {"lenet": (lenet, (1, 28, 28)), "cifar": (cifar, (3, 32, 32)), "alexnet": (alexnet, (3, 227, 227)),
            **{make.__name__: (make, (3, 224, 224)) for make in (vgg16, resnet18, resnet50, mobilenet, squeezenet)},
            "googlenet": (GoogLeNet, (3, 224, 224))}


def loss_of(outputs, labels):
    """Returns the mean cross-entropy. For GoogLeNet in training it adds 0.3 times the loss of each auxiliary classifier."""
    if not isinstance(outputs, tuple):
        return F.cross_entropy(outputs, labels)
    return F.cross_entropy(outputs[0], labels) + 0.3 * sum(F.cross_entropy(logits, labels) for logits in outputs[1:])
