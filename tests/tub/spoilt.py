"""Good drives, spoilt on purpose: each way takes the records of a tub and gives others, with pictures in a folder."""

import io
import shutil
from dataclasses import replace

import numpy as np
from PIL import Image, ImageFilter

from donkeysim.tub.reader import IMAGE_KEY

ANGLE, THROTTLE = "user/angle", "user/throttle"
LATE = 10
"""Records by which what is late comes too late: half a second."""


def change(record, **values):
    """Return a record with other values; None takes one away."""
    merged = record.values | {name.replace("__", "/"): value for name, value in values.items()}
    return replace(record, values={name: value for name, value in merged.items() if value is not None})


def steer(records, make_angle):
    return [
        change(record, user__angle=make_angle(record.values[ANGLE], number)) for number, record in enumerate(records)
    ]


def repaint(records, folder, make_picture, chosen):
    """Return records whose pictures were changed where their number was chosen."""
    folder.mkdir(parents=True, exist_ok=True)
    painted = []
    for number, record in enumerate(records):
        target = folder / record.values[IMAGE_KEY]
        if chosen(number):
            picture = make_picture(Image.open(io.BytesIO(record.read_image())).convert("RGB"), number)
            picture.save(target, "JPEG", quality=75)
        else:
            shutil.copyfile(record.locate_image(), target)
        painted.append(replace(record, image_folder=folder))
    return painted


def is_second_half(records):
    return lambda number: number >= len(records) // 2


def borrow_pictures(records, make_number):
    """Return records with the pictures of others."""
    return [
        change(record, **{IMAGE_KEY: records[make_number(number)].values[IMAGE_KEY]})
        for number, record in enumerate(records)
    ]


def tilt(picture, _number):
    return picture.transform(picture.size, Image.Transform.AFFINE, (1, 0, 0, 0, 1, -0.13 * picture.height))


def is_middle(records, seconds=3):
    middle = len(records) // 2
    return lambda number: middle <= number < middle + 20 * seconds


def stop(records, throttle):
    chosen = is_middle(records)
    middle = len(records) // 2
    stopped = borrow_pictures(records, lambda number: middle if chosen(number) else number)
    if throttle is None:
        return stopped
    return [change(record, user__throttle=throttle) if chosen(i) else record for i, record in enumerate(stopped)]


def mark(records, **values):
    chosen = is_middle(records)
    return [change(record, **values) if chosen(number) else record for number, record in enumerate(records)]


def drive_faster(records, _folder):
    second = is_second_half(records)
    faster = lambda record: change(record, user__throttle=min(1.0, 0.05 + 2.2 * abs(record.values[THROTTLE])))  # noqa: E731
    return [faster(record) if second(number) else record for number, record in enumerate(records)]


def steer_by_keys(records, _folder):
    second = is_second_half(records)
    return steer(records, lambda angle, i: float(np.sign(angle) * (abs(angle) > 0.3)) if second(i) else 0.9 * angle)


def drive_to_the_right(records, _folder):
    """Return the same bends to the right, over and over."""
    right = [record for record in records if record.values[ANGLE] > -0.15]
    return (right * 4)[: len(records)]


def lose_half(records, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number, record in enumerate(records):
        if number % 2:
            shutil.copyfile(record.locate_image(), folder / record.values[IMAGE_KEY])
    return [replace(record, image_folder=folder) for record in records]


def expose(picture, number):
    gain = np.random.default_rng(number // 15).choice([0.5, 1.0, 1.6])
    return picture.point(lambda value: min(255, int(value * gain)))


def swap_colours(picture, _number):
    red, green, blue = picture.split()
    return Image.merge("RGB", (blue, green, red))


always = lambda _number: True  # noqa: E731

WAYS = {
    "mirrored": lambda r, _: steer(r, lambda angle, _i: -angle),
    "mirrored pictures": lambda r, f: repaint(r, f, lambda p, _i: p.transpose(Image.Transpose.FLIP_LEFT_RIGHT), always),
    "late_steering": lambda r, _: steer(r, lambda _a, i: r[max(0, i - LATE)].values[ANGLE]),
    "late_pictures": lambda r, _: borrow_pictures(r, lambda i: max(0, i - LATE)),
    "no_pictures": lose_half,
    "two_throttles": drive_faster,
    "two_hands": steer_by_keys,
    "two_mountings": lambda r, f: repaint(r, f, tilt, is_second_half(r)),
    "two_colours": lambda r, f: repaint(r, f, swap_colours, is_second_half(r)),
    "exposure": lambda r, f: repaint(r, f, expose, always),
    "blurred": lambda r, f: repaint(r, f, lambda p, _i: p.filter(ImageFilter.GaussianBlur(p.width / 80)), always),
    "dark": lambda r, f: repaint(r, f, lambda p, _i: p.point(lambda value: value // 16), is_middle(r)),
    "still": lambda r, _: stop(r, 0.0),
    "frozen": lambda r, _: stop(r, None),
    "units": lambda records, _: steer(records, lambda angle, _: 25.0 * angle),
    "saturated": lambda r, _: steer(r, lambda angle, _i: 1.0 if angle > 0.0 else -1.0),
    "trembling": lambda r, _: steer(r, lambda angle, i: float(np.clip(angle + (-0.15, 0.15)[i % 2], -1.0, 1.0))),
    "right_only": drive_to_the_right,
    "no_throttle": lambda r, _: [change(record, user__throttle=0.0) for record in r],
    "no_steering": lambda r, _: steer(r, lambda _a, _i: 0.0),
    "off_road": lambda r, _: mark(r, pos__cte=10.0),
    "backing": lambda r, _: mark(r, user__throttle=-0.4),
    "no_commands": lambda r, _: mark(r, user__angle=None),
    "sizes": lambda r, f: repaint(r, f, lambda p, _i: p.resize((p.width // 2, p.height // 2)), is_second_half(r)),
}
"""How a drive is spoilt, by the kind of flaw that is to be found (the first word)."""
