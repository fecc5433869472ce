"""Tubs in ZIP and TAR files are unpacked beside the file and read like others."""

import io
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from donkeysim.core.errors import TubError
from donkeysim.tub import folder as folder_module
from donkeysim.tub.folder import find_path, open_tubs, split_paths
from donkeysim.tub.manifest import MANIFEST_NAME
from donkeysim.tub.writer import TubWriter
from tub.drives import write_tub
from tub.test_tub_reader import write_tub_of_single_files


@pytest.fixture
def zipped(tmp_path):
    """Return the path of a ZIP file that holds a tub of three records in a folder `data`."""
    with TubWriter(tmp_path / "made" / "data", inputs=["user/angle"], types=["float"]) as tub:
        for angle in (0.1, 0.2, 0.3):
            tub.write_record({"user/angle": angle})
    path = tmp_path / "drive.zip"
    shutil.make_archive(str(path.with_suffix("")), "zip", tmp_path / "made")
    return path


def test_a_zipped_tub_is_read_like_another(zipped):
    (tub,) = open_tubs([str(zipped)])
    assert [record.values["user/angle"] for record in tub] == [0.1, 0.2, 0.3]
    assert tub.path == zipped.parent / "drive" / "data"


@pytest.mark.original("Tubs", "tubs in `.zip`, `.tar.gz` and the like", "read; unpacked beside the file")
@pytest.mark.parametrize(
    ("kind", "ending"), [("tar", "tar"), ("gztar", "tar.gz"), ("bztar", "tar.bz2"), ("gztar", "tgz")]
)
def test_a_tub_in_a_tar_file_is_read_like_another(zipped, kind, ending):
    made = Path(shutil.make_archive(str(zipped.parent / "taken"), kind, zipped.parent / "made"))
    path = made.rename(zipped.parent / f"taken.{ending}")
    for _ in range(2):
        (tub,) = open_tubs([str(path)])
        assert [record.values["user/angle"] for record in tub] == [0.1, 0.2, 0.3]
        assert tub.path == zipped.parent / "taken" / "data"


def add(file, name, content=b"", kind=tarfile.REGTYPE, link=""):
    """Add a member to a TAR file."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.type, entry.linkname = len(content), kind, link
    file.addfile(entry, io.BytesIO(content))


@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_tar_file_that_reaches_out_of_its_folder_writes_nothing_there(tmp_path, is_absolute):
    outside = tmp_path / "outside.txt"
    with tarfile.open(tmp_path / "evil.tar", "w") as file:
        add(file, MANIFEST_NAME)
        add(file, str(outside) if is_absolute else "../outside.txt")
    if is_absolute:  # as tar does, without the slash
        assert split_paths([str(tmp_path / "evil.tar")]) == [tmp_path / "evil"]
        assert (tmp_path / "evil" / str(outside).lstrip("/")).is_file()
    else:
        with pytest.raises(TubError, match="cannot be unpacked"):
            split_paths([str(tmp_path / "evil.tar")])
        assert not (tmp_path / "evil").exists()
    assert not outside.exists()


def test_of_a_tar_file_only_files_and_folders_are_unpacked(tmp_path):
    with tarfile.open(tmp_path / "taken.tar", "w") as file:
        add(file, f"data/{MANIFEST_NAME}")
        add(file, "data/0.jpg", b"x")
        add(file, "data/1.jpg", kind=tarfile.SYMTYPE, link="0.jpg")
        add(file, "data/2.jpg", kind=tarfile.LNKTYPE, link="data/0.jpg")
    (folder,) = split_paths([str(tmp_path / "taken.tar")])
    assert sorted(path.name for path in folder.iterdir()) == ["0.jpg", MANIFEST_NAME]


@pytest.mark.parametrize("ending", ["tar", "zip"])
@pytest.mark.parametrize("is_absolute", [False, True])
def test_the_tub_of_a_packed_file_lies_within_its_folder(tmp_path, ending, is_absolute):
    path, name = tmp_path / f"evil.{ending}", f"{tmp_path}/other/" if is_absolute else "../other/"
    if ending == "zip":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(f"{name}{MANIFEST_NAME}", "x")
    else:
        with tarfile.open(path, "w") as file:
            add(file, f"{name}{MANIFEST_NAME}")
    if is_absolute:
        (found,) = split_paths([str(path)])
        assert found.is_relative_to(tmp_path / "evil")
        assert (found / MANIFEST_NAME).is_file()
    else:
        with pytest.raises(TubError, match=r"a tub that would lie outside its folder \(\.\./other\); pack"):
            split_paths([str(path)])
    assert not (tmp_path / "other").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("ending", ["tar", "zip"])
@pytest.mark.parametrize("limit", ["_MOST_UNPACKED", "_MOST_ENTRIES"])
def test_what_has_one_name_several_times_counts_as_often(tmp_path, ending, limit, monkeypatch):
    monkeypatch.setattr(folder_module, limit, {"_MOST_UNPACKED": 2000, "_MOST_ENTRIES": 4}[limit])
    path, content = tmp_path / f"large.{ending}", bytes(500)
    if ending == "zip":
        with zipfile.ZipFile(path, "w") as file:
            for name in (MANIFEST_NAME, *["0.jpg"] * 6):
                file.writestr(name, content)
    else:
        with tarfile.open(path, "w") as file:
            for name in (MANIFEST_NAME, *["0.jpg"] * 6):
                add(file, name, content)
    with pytest.raises(TubError, match=r"holds more than .* unpack it yourself"):
        split_paths([str(path)])


def test_a_file_that_is_unpacked_already_is_not_read_again(zipped, monkeypatch):
    first = split_paths([str(zipped)])
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert split_paths([str(zipped)]) == first


def test_one_whose_mark_does_not_say_where_the_tub_lies_is_taken(zipped):
    first = split_paths([str(zipped)])
    mark = zipped.parent / "drive" / ".unpacked"
    mark.write_text(mark.read_text().splitlines()[0])
    assert split_paths([str(zipped)]) == first


@pytest.mark.parametrize("name", [".zip", ".tar.gz", "..tar"])
def test_a_file_that_is_called_as_an_ending_is_no_packed_one(tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    assert split_paths([str(tmp_path / name)]) == [tmp_path / name]


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tar.xz"])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_damaged_tar_file_says_so(zipped, ending, share):
    kind = {"tar": "tar", "tar.gz": "gztar", "tar.xz": "xztar"}[ending]
    path = Path(shutil.make_archive(str(zipped.parent / "taken"), kind, zipped.parent / "made"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))] + b"no")
    with pytest.raises(TubError, match="cannot be unpacked"):
        split_paths([str(path)])
    assert not (zipped.parent / "taken").exists()


def test_a_zipped_tub_of_single_files_is_read(tmp_path):
    tub = write_tub_of_single_files(tmp_path / "made" / "tub_1", 3)
    for _ in range(2):
        packed = shutil.make_archive(str(tmp_path / "old"), "zip", tmp_path / "made")
        (opened,) = open_tubs([packed])
        assert len(opened) == 3
        shutil.rmtree(tmp_path / "old")
        (tub / "meta.json").unlink(missing_ok=True)


def test_it_is_unpacked_once(zipped):
    first = split_paths([str(zipped)])
    (first[0] / "mine.txt").write_text("kept")
    assert split_paths([str(zipped.parent / "*.zip")]) == first
    assert (first[0] / "mine.txt").read_text() == "kept"


def test_another_folder_of_that_name_is_left_alone(zipped):
    (zipped.parent / "drive").mkdir()
    with pytest.raises(TubError, match="is there already and is not of"):
        split_paths([str(zipped)])


def test_a_newer_file_of_that_name_is_not_taken_for_the_older_one(zipped):
    split_paths([str(zipped)])
    with zipfile.ZipFile(zipped, "a") as file:
        file.writestr("data/images/meta.json", "{}")  # of an older tub's pictures
    with pytest.raises(TubError, match="as it is now; rename or remove"):
        split_paths([str(zipped)])


def test_a_damaged_file_says_so(zipped):
    content = bytearray(zipped.read_bytes())
    content[60:90] = bytes(30)
    zipped.write_bytes(content)
    with pytest.raises(TubError, match="cannot be unpacked"):
        split_paths([str(zipped)])


def test_what_holds_no_tub_says_so(tmp_path):
    path = tmp_path / "none.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("letter.txt", "x")
    with pytest.raises(TubError, match="holds no tub;"):
        split_paths([str(path)])


def test_all_tubs_of_a_packed_file_and_of_a_folder_are_taken(tmp_path, caplog):
    for name in ("data/tub_1", "data/tub_2"):
        write_tub(tmp_path / name, 3)
    write_tub_of_single_files(tmp_path / "data/tub_3", 3)
    (tmp_path / "data/notes").mkdir()
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "data")
    with caplog.at_level("INFO"):
        tubs = open_tubs([str(tmp_path / "data")])
    assert [tub.path.name for tub in tubs] == ["tub_1", "tub_2", "tub_3"]
    assert caplog.messages == [f"{tmp_path / 'data'} holds 3 tubs; all are taken."]
    for _ in range(2):
        assert [path.name for path in split_paths([packed])] == ["tub_1", "tub_2"]
    with pytest.raises(TubError, match=r"names 2 tubs \(.*packed/data/tub_1, .*\); here give one of them"):
        find_path(packed)


def test_a_zip_file_with_backslashes_between_folders_is_read(zipped):
    """As `Compress-Archive` of Windows' PowerShell 5 and .NET before 4.6.1 write it."""
    path = zipped.with_name("windows.zip")
    with zipfile.ZipFile(zipped) as plain, zipfile.ZipFile(path, "w") as file:
        for entry in plain.infolist():
            content = plain.read(entry)
            entry.filename = entry.filename.replace("/", "\\")
            file.writestr(entry, content)
    assert b"data\\manifest.json" in path.read_bytes()
    (tub,) = open_tubs([str(path)])
    assert [record.values["user/angle"] for record in tub] == [0.1, 0.2, 0.3]
    assert tub.path == path.parent / "windows" / "data"


def test_what_is_no_zip_file_says_so(tmp_path):
    (tmp_path / "broken.zip").write_bytes(b"no")
    with pytest.raises(TubError, match="cannot be unpacked"):
        split_paths([str(tmp_path / "broken.zip")])
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize("name", ["../outside.txt", "..\\outside.txt"])
def test_nothing_is_written_beside_the_folder(name, tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, "x")
        file.writestr(MANIFEST_NAME, "x")
    split_paths([str(path)])
    assert not (tmp_path.parent / "outside.txt").exists()
    assert not (tmp_path / "outside.txt").exists()
    assert (tmp_path / "evil" / "outside.txt").exists()


def test_a_python_without_lzma_reads_tubs_all_the_same():
    program = "import sys; sys.modules['lzma'] = sys.modules['_lzma'] = None; import donkeysim.tub.folder"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
