#!/usr/bin/python3
"""How far rounding may carry a training step by way of max pooling.

    max_pool_ties.py NETWORK [SIDE]

Takes one step of `train_parity.py --clear-of-zero NETWORK` in PyTorch at double precision, and prints for each max
pooling how far apart, in parts of the larger, the two largest values of its closest window are, and how far the change
of the worst tensor is from what it was when just these two are swapped. Windows whose maximum is zero are left out.
"""

import sys

sys.dont_write_bytecode = True
import torch
import torch.nn.functional as functional
import train_parity as parity

POOL = functional.max_pool2d


def closest_window(x, kernel, stride):
    """Gap and size of the two largest, and (plane, row, column) of the second."""
    windows = functional.unfold(x.reshape(-1, 1, *x.shape[2:]), kernel, stride=stride)
    largest, taps = windows.topk(2, dim=1)
    gaps = (largest[:, 0] - largest[:, 1]) / largest[:, 0].clamp(min=1e-9)
    gaps[largest[:, 0] <= 0] = float("inf")
    plane, window = divmod(gaps.argmin().item(), gaps.shape[1])
    row, column = divmod(window, (x.shape[3] - kernel) // stride + 1)
    tap_row, tap_column = divmod(taps[plane, 1, window].item(), kernel)
    place = (plane, row * stride + tap_row, column * stride + tap_column)
    return gaps[plane, window].item(), largest[plane, 0, window].item(), place, torch.isfinite(gaps).sum().item()


class Pools:
    """Stands in for max_pool2d: notes each call's closest window, and swaps the two in call number `swapped`."""

    def __init__(self, swapped=None):
        self.swapped, self.notes = swapped, []

    def __call__(self, x, kernel_size, stride=None, *rest, **options):
        gap, size, place, windows = closest_window(x.detach(), kernel_size, stride or kernel_size)
        if len(self.notes) == self.swapped:
            change = torch.zeros_like(x)
            change.reshape(-1, *x.shape[2:])[place] = 2 * gap * size + 1e-14
            x = x + change
        self.notes.append((tuple(x.shape), windows, gap))
        return POOL(x, kernel_size, stride, *rest, **options)


def step(case, model, before, images, labels, swapped=None):
    functional.max_pool2d = pools = Pools(swapped)
    model.float().load_state_dict(before)
    after = parity.train_with_torch(case, model.double(), images.double(), labels, 1)
    functional.max_pool2d = POOL
    return after, pools.notes


def main():
    torch.set_num_threads(2)
    case = next(case for case in parity.CASES_WHEN_ASKED if case.network == sys.argv[1])
    if len(sys.argv) > 2:
        case.side = int(sys.argv[2])
    case = parity.case_of_steps(case, 1, True)
    model = parity.network(case.network)
    parity.set_clear_of_zero(model)
    before = parity.state(model)
    count = max(parity.STEPS_WHEN_ASKED) * parity.BATCH
    images, labels = torch.randn(count, 3, case.side, case.side), torch.randint(1, (count,))
    after, notes = step(case, model, before, images, labels)
    for number, (shape, windows, gap) in enumerate(notes):
        changed, name = parity.worst_tensor(before, after, step(case, model, before, images, labels, number)[0])
        print(f"max pooling of {'x'.join(map(str, shape))}: the closest of {windows} windows is {gap:.1e} from a tie; "
              f"swapped, {name} changes by {changed:.1e}", flush=True)


if __name__ == "__main__":
    main()
