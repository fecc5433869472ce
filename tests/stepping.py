"""A device that works as a GPU does, for tests."""

import numpy as np

from donkeysim.core.device import Cpu
from donkeysim.core.kernel import make_loop


class OneRoomEach(Cpu):
    """Runs like a GPU: each index has a small working memory of its own, and the last index comes first."""

    shares_rooms = False

    def count_rooms(self, count):
        return count

    def run(self, function, count, *arguments, block=1):
        loop = make_loop(function)
        for index in reversed(range(count)):
            loop(np.full(1, index), 1, index + 1, index, arguments)
