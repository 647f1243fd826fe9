"""The 3D U-Net of the zoo in PyTorch, written independently of tacho."""

import torch
from torch import nn


class Convolution(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv3d(channels_in, channels_out, kernel_size=3, padding=1)
        # PyTorch's own initialisation lets the signal vanish on the way down.
        nn.init.kaiming_normal_(self.conv.weight)

    def forward(self, x):
        return self.conv(x)


class Coder(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv1 = Convolution(channels_in, channels_out)
        self.conv2 = Convolution(channels_out, channels_out)

    def forward(self, x):
        return nn.functional.elu(self.conv2(nn.functional.elu(self.conv1(x))))


class UNet3d(nn.Module):
    """Every decoder works on (previous, pooled encoder output) and upsamples last."""

    def __init__(self, features=12, growth=5, scales=((1, 3, 3),) * 3, pools=None):
        super().__init__()
        widths = [features * growth**level for level in range(len(scales) + 1)]
        pools = pools or [dict(kernel_size=(1, 4, 4), stride=(1, 3, 3), padding=(0, 1, 1))] * len(scales)
        self.encoders = nn.ModuleList(Coder(i, o) for i, o in zip([1] + widths, widths[:-1]))
        self.poolers = [nn.MaxPool3d(**pool) for pool in pools]
        self.base = Coder(widths[-2], widths[-1])
        down = widths[::-1]
        self.decoders = nn.ModuleList(Coder(deep + skip, skip) for deep, skip in zip(down, down[1:]))
        self.scales = scales[::-1]
        self.output = Convolution(features, 3)

    @classmethod
    def lite(cls):
        scales = ((1, 2, 2), (2, 2, 2), (2, 2, 2))
        return cls(8, 2, scales, [dict(kernel_size=scale, stride=scale) for scale in scales])

    def forward(self, x):
        pooled = []
        for encoder, pool in zip(self.encoders, self.poolers):
            x = pool(encoder(x))
            pooled.append(x)
        x = self.base(x)
        for decoder, skip, scale in zip(self.decoders, reversed(pooled), self.scales):
            x = decoder(torch.cat([x, skip], dim=1))
            x = nn.functional.interpolate(x, scale_factor=tuple(map(float, scale)), mode="nearest")
        return torch.sigmoid(self.output(x))
