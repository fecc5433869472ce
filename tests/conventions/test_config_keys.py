"""Every key of a car's config.py is read by something: a key that does nothing would be a promise that is not kept."""

import ast

from donkeysim.learn.options import TrainingOptions
from sources import PACKAGE, list_nodes, read_tree

KNOWS_ALL = {PACKAGE / "car" / name for name in ("keys.py", "template/config.py")}
READ_BY_OWN_PARTS = {"PACKAGE_PATH"}
"""The original's second name of CAR_PATH."""


def list_keys():
    body = read_tree(PACKAGE / "car" / "template" / "config.py").body
    return {target.id for node in body if isinstance(node, ast.Assign) for target in node.targets}


def list_names_read(folder, but_not):
    """Return all attributes that sources read, and all texts in them, which may be names of keys."""
    read = set()
    for path in set(folder.rglob("*.py")) - but_not:
        for node in list_nodes(path):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                read.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                read.add(node.value)
    return read


def test_read_every_key_of_the_template():
    training = {name.upper() for name in TrainingOptions.__dataclass_fields__}
    unread = list_keys() - list_names_read(PACKAGE, KNOWS_ALL) - training - READ_BY_OWN_PARTS
    assert not unread, f"nothing reads {sorted(unread)}"


def test_read_every_option_of_training_where_pilots_are_trained():
    learn = PACKAGE / "learn"
    unread = set(TrainingOptions.__dataclass_fields__) - list_names_read(learn, {learn / "options.py"})
    assert not unread, f"nothing in learn reads {sorted(unread)}"
