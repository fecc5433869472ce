"""Writers that die at a chosen byte: every write, rename and removal of the record being written is counted."""

import contextlib
import errno
import os
import shutil
from unittest import mock

from donkeysim.core.errors import TubError
from donkeysim.tub.writer import TubWriter
from tub.drives import INPUTS, TYPES, make_record, write_tub


class Killed(BaseException):
    """The process is gone; nothing that follows is done."""


class Disk:
    """Stands in for the operating system: takes `budget` units, one for each byte and each other change, then ends.

    Attributes:
        used: Units taken so far.
        steps: Units at which something other than a byte of a long file happened, worth ending at.
    """

    def __init__(self, budget, ending):
        self._left, self._ending = budget, ending
        self.used, self.steps = 0, []
        self._write, self._replace, self._open = os.write, os.replace, os.open

    def write(self, descriptor, data):
        self.steps += [self.used, self.used + len(data)]
        fits = min(len(data), self._left)
        taken = self._write(descriptor, data[:fits]) if fits else 0
        self._take(taken)
        if taken < len(data):
            self._end()
        return taken

    def replace(self, source, target):
        self._change()
        return self._replace(source, target)

    def open(self, path, flags, *rest, **options):
        if flags & os.O_CREAT:
            self._change()
        return self._open(path, flags, *rest, **options)

    def _change(self):
        self.steps.append(self.used)
        if not self._left:
            self._end()
        self._take(1)

    def _take(self, units):
        self.used += units
        self._left -= units

    def _end(self):
        if self._ending is Killed:
            raise Killed
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextlib.contextmanager
def disk_of(budget, ending):
    disk = Disk(budget, ending)
    patches = [mock.patch.object(os, name, getattr(disk, name)) for name in ("write", "replace", "open")]
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield disk


def list_budgets(start):
    """Return where to end while a record is added to the tub `start`: at each change, and inside each small file."""
    copy = start.with_name(start.name + "_whole")
    shutil.copytree(start, copy)
    writer = TubWriter(copy, INPUTS, TYPES)
    with disk_of(10**9, Killed) as disk:
        writer.write_record(make_record(0))
    writer.close()
    steps = sorted({step + near for step in disk.steps for near in (-1, 0, 1)})
    inside = range(0, disk.used, 13)
    return sorted({step for step in (*steps, *inside) if 0 <= step < disk.used})


def make_torn_tubs(folder, before, max_catalog_len=3):
    """Yield tubs of `before` records whose writer died at each point of adding one more: (path, writer's budget)."""
    start = write_tub(folder / f"start_{before}", before, max_catalog_len)
    for budget in list_budgets(start):
        path = folder / f"torn_{before}_{budget}"
        shutil.copytree(start, path)
        writer = TubWriter(path, INPUTS, TYPES)
        try:
            with contextlib.suppress(Killed), disk_of(budget, Killed):
                writer.write_record(make_record(before))
        finally:
            writer._lock.release()
            if writer._catalog:
                writer._catalog.close()
        yield path, budget


def make_full_tubs(folder, before, max_catalog_len=3):
    """Yield tubs whose disk was full at each point of adding one more record: (path, the writer, still open)."""
    start = write_tub(folder / f"start_{before}", before, max_catalog_len)
    for budget in list_budgets(start):
        path = folder / f"full_{before}_{budget}"
        shutil.copytree(start, path)
        with TubWriter(path, INPUTS, TYPES) as writer:
            error = None
            with disk_of(budget, OSError):
                try:
                    writer.write_record(make_record(before))
                except TubError as raised:
                    error = raised
            yield path, writer, error
