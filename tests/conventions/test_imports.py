"""No module imports itself by way of others, not even where only types or a function's body need the other one."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


@pytest.fixture(scope="module")
def imports():
    graph = grimp.build_graph("donkeysim", cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def find_circle(imports):
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_by_way_of_others(imports):
    assert len(imports) > 300
    assert find_circle(imports) == []


def test_the_files_of_a_car_folder_are_data_that_nobody_imports(imports):
    assert [module for module in imports if ".template" in module] == []


def test_a_circle_of_types_alone_is_found(tmp_path, monkeypatch):
    package = tmp_path / "ringed"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from ringed import two\n")
    (package / "two.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ringed import one\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    graph = grimp.build_graph("ringed", cache_dir=None)
    circle = find_circle({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    assert set(circle) == {"ringed.one", "ringed.two"}
