"""How the flaws of a tub are told; the page of `donkey tubclean` says the same in three languages."""

from typing import NamedTuple


class FlawWords(NamedTuple):
    """The words of a kind of flaw.

    Attributes:
        finding: What was found; with names of `Flaw.values` in braces.
        advice: What to do.
    """

    finding: str
    advice: str


_DROP = "Delete the marked stretches."

WORDS = {
    "mirrored": FlawWords(
        "The steering is mirrored: the car turns to the other side than it is steered (correlation {fit}).",
        "Check the sign of the steering and whether the camera's picture is flipped, then record again.",
    ),
    "late_steering": FlawWords(
        "The steering is recorded late: the view turns {seconds} s before the driver steers.",
        "Look for what delays the driver's commands, such as a radio link or a full processor, then record again.",
    ),
    "late_pictures": FlawWords(
        "The pictures are late: the view turns {seconds} s after the driver steered; 0.1 to 0.35 s are usual.",
        "Look for what delays the camera, such as a network or pictures that wait in a queue, then record again.",
    ),
    "no_pictures": FlawWords(
        "{share} of the records have no picture that can be read.",
        "Copy the tub's images again; training skips these records.",
    ),
    "dark": FlawWords("Nothing can be seen for {seconds} s: the picture is dark or of one colour.", _DROP),
    "blurred": FlawWords("The pictures are blurred.", "Focus the lens and wipe it, then record again."),
    "exposure": FlawWords(
        "The exposure jumps at {share} of the records.",
        "Fix the camera's exposure, or keep lamps out of the picture, then record again.",
    ),
    "sizes": FlawWords(
        "The pictures differ in size: {sizes}.", "Delete the marked stretches, unless both sizes show the same view."
    ),
    "still": FlawWords("The car stands still for {seconds} s.", _DROP),
    "frozen": FlawWords(
        "The picture stays the same for {seconds} s while the car is driven: it is held up, or the camera hangs.", _DROP
    ),
    "backing": FlawWords(
        "The car is driven backward for {seconds} s.",
        "Delete the marked stretches, and what led to them, unless the pilot is to back up.",
    ),
    "off_road": FlawWords("The car is off the road for {seconds} s.", _DROP),
    "no_commands": FlawWords(
        "{share} of the records do not say what the driver did.",
        "Delete them: training needs steering and throttle at every record.",
    ),
    "no_throttle": FlawWords(
        "There is no throttle: a pilot that learns this never moves.",
        "Record the throttle, or train a pilot that steers only.",
    ),
    "no_steering": FlawWords(
        "Nobody steers: the steering stays the same.", "Check that the steering is recorded, then record again."
    ),
    "saturated": FlawWords(
        "The steering is at its end at {share} of the records.",
        "Steer more gently or lower the steering's scale, then record again.",
    ),
    "trembling": FlawWords(
        "The steering trembles: it goes to and fro at {share} of the records.",
        "Check the stick and its dead zone, then record again.",
    ),
    "right_only": FlawWords("All bends go to the right.", "Drive the track the other way round, too."),
    "left_only": FlawWords("All bends go to the left.", "Drive the track the other way round, too."),
    "two_throttles": FlawWords(
        "Two ways of driving: the throttle is about {before} up to record {record} and {after} from there on.",
        "Keep one: delete the marked part, or train on each by itself.",
    ),
    "two_hands": FlawWords(
        "Two drivers: one steers by keys, the other does not; they change at about record {record}.",
        "Keep one: delete the marked part, or train on each by itself.",
    ),
    "two_mountings": FlawWords(
        "The camera was tilted at about record {record}: the view is higher or lower from there on.",
        "Keep what was recorded as the camera is mounted now: delete the other part.",
    ),
    "two_colours": FlawWords(
        "Red and blue are swapped at about record {record}.",
        "Keep the part whose colours are right: delete the other one.",
    ),
}
"""By kind."""
