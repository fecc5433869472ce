"""What Windows refuses to do with files, and letters that standard output lacks there, for all of a process.

Only what lies in the folder is judged. The rules cannot be lifted again, so a test starts a process for them.
"""

import io
import os
import re
import sys
from pathlib import Path

FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$', re.IGNORECASE)
LONGEST = 120
"""Characters of a path within the folder: of 260 in all, a user's folder takes its part."""


class WindowsRules:
    """Refuses what Windows refuses, and notes it, as programs may catch the error."""

    def __init__(self, folder: Path) -> None:
        self.folder = f"{folder.resolve()}{os.sep}"
        self.broken: list[str] = []
        judges = {"open": self.see_open, "os.mkdir": self.see_names, "os.rename": self.see_rename}
        judges |= {"os.remove": self.see_remove, "os.link": self.see_link, "os.symlink": self.see_link}
        sys.addaudithook(lambda event, words: judges[event](*words) if event in judges else None)

    def find(self, path: object) -> str | None:
        if not isinstance(path, str | bytes | os.PathLike):
            return None
        whole = os.path.abspath(os.fsdecode(path))
        return whole if whole.startswith(self.folder) else None

    def refuse(self, what: str, path: str) -> None:
        self.broken.append(f"{what}: {path.removeprefix(self.folder)}")
        raise PermissionError(13, what, path)

    def see_names(self, path: object, *_: object) -> None:
        if found := self.find(path):
            within = found.removeprefix(self.folder)
            if len(within) > LONGEST or any(FORBIDDEN.search(part) for part in within.split(os.sep)):
                self.refuse("no name there", found)

    def see_open(self, path: object, mode: object, flags: int) -> None:
        if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
            self.see_names(path)
        if (found := self.find(path)) and mode is None and os.path.isdir(found):
            caller = sys._getframe(2).f_code.co_filename
            if os.path.basename(caller) not in ("shutil.py", "tempfile.py"):  # which do it in another way there
                self.refuse("no folder can be opened", found)

    def see_rename(self, old: object, new: object, *_: object) -> None:
        self.see_names(new)
        for path in filter(None, map(self.find, (old, new))):
            self.see_open_ones(path)

    def see_remove(self, path: object, *_: object) -> None:
        if found := self.find(path):
            self.see_open_ones(found)

    def see_open_ones(self, path: str) -> None:
        for link in Path("/proc/self/fd").iterdir():
            try:
                target = os.readlink(link)
            except OSError:  # of the search itself
                continue
            if target == path or target.startswith(f"{path}{os.sep}"):
                self.refuse("it is open", path)

    def see_link(self, path: object, new: object, *_: object) -> None:
        if found := self.find(new):
            self.refuse("no links", found)


def main() -> None:
    """Make and change a car, its tub and files of other programs; print which rules were broken."""
    folder = Path(sys.argv[1])
    rules = WindowsRules(folder)
    output, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO(), "cp1252")
    os.chdir(folder)
    from donkeysim.cli.donkey import run
    from donkeysim.tub.edit import change_deleted
    from tub.drives import write_tub

    car = folder / "Müller 車"
    codes = [run(["createcar", "--path", str(car)]), run(["createcar", "--path", str(car), "--overwrite"])]
    os.chdir(car)
    (car / "manage.py").write_text("changed = True\n")
    codes.append(run(["update"]))
    for _ in range(2):
        write_tub(car / "data", 12, max_catalog_len=5)
        change_deleted(car / "data", lambda deleted, count: deleted | {count - 1})
    codes += [run(["convert", "data", file]) for file in ("drive.parquet", "drive.mcap")]
    codes.append(run(["convert", "drive.mcap", "again"]))
    codes += [run(["tubhist", "--tub", "again"]), run(["tracks", "new", "bahn"]), run(["models"])]
    print(codes, *rules.broken, sep="\n", file=output)


if __name__ == "__main__":
    main()
