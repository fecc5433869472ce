"""A control page whose loop runs 20 times a second without a simulator: pictures are a shade that changes."""

import threading

import numpy as np

from stand_ins.served_page import ServedPage
from stand_ins.watched_stage import make_telemetry


class DrivenPage(ServedPage):
    """`wishes` lists what the page wanted in each loop; `inputs` is what the next loops tell it."""

    def __init__(self, watching_url="", traveller=None, views=None, **config):
        super().__init__(watching_url, traveller, views, **config)
        self.wishes = []
        self.inputs = {"pilots": ("big.h5", "small.onnx"), "rate": 20.0, "latency": 0.004, "lap_times": [20.5, 19.25]}
        self.ended = threading.Event()
        self.driver = threading.Thread(target=self.drive)

    def __enter__(self):
        super().__enter__()
        self.driver.start()
        return self

    def stop(self):
        self.ended.set()
        if self.driver.ident:
            self.driver.join()
        super().stop()

    def drive(self):
        index = record_count = 0
        while not self.ended.wait(0.05):
            index += 1
            image = np.full((120, 160, 3), (60 + index % 100, 140, 90), np.uint8)
            telemetry = make_telemetry(index / 20, 2)
            if self.wishes:
                telemetry.steering_angle, telemetry.throttle = self.wishes[-1][:2]
            inputs = {"image": image, "telemetry": telemetry, "record_count": record_count or None, **self.inputs}
            self.wishes.append(self.tick(**inputs))
            record_count += self.wish.recording

    def wait_for_wish(self, condition):
        """Wait until what the page wants fulfils a condition."""
        self.wait_for(lambda: self.wishes and condition(self.wishes[-1]))

    def wait_for_loops(self, count=4):
        """Wait until the loop has run some more times, so that what the page sent has come or will not come."""
        wanted = len(self.wishes) + count
        self.wait_for(lambda: len(self.wishes) >= wanted)

    def count_buttons(self, name):
        return sum(bool(wish.buttons.get(name)) for wish in self.wishes)
