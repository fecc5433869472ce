"""Keys of the original's configuration that mean nothing to a simulated car, with the values nobody has touched.

The values are those of all templates of the original, so that its myconfig.py may set them without being told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class UnusedKey:
    """A key without effect."""

    reason: str
    """Why it has none; the rest of a sentence."""
    defaults: tuple[Any, ...]
    """What it is in one template of the original or another."""


_CAMERA: dict[str, tuple[Any, ...]] = {
    "CAMERA_TYPE": ("PICAM", "MOCK"),
    "CAMERA_FRAMERATE": (20,),
    "CAMERA_VFLIP": (False,),
    "CAMERA_HFLIP": (False,),
    "CAMERA_INDEX": (0,),
    "CSIC_CAM_GSTREAMER_FLIP_PARM": (0,),
    "BGR2RGB": (False,),
    "REALSENSE_D435_RGB": (True,),
    "REALSENSE_D435_DEPTH": (True, False),
    "REALSENSE_D435_IMU": (False,),
    "REALSENSE_D435_ID": (None,),
    "OAKD_RGB": (True,),
    "OAKD_DEPTH": (True,),
    "OAKD_ID": (None,),
    "REALSENSE_T265_ID": (None,),
}

_HARDWARE: dict[str, tuple[Any, ...]] = {
    "PCA9685_I2C_ADDR": (64,),
    "PCA9685_I2C_BUSNUM": (None,),
    "DRIVE_TRAIN_TYPE": ("PWM_STEERING_THROTTLE", "MOCK", "SERVO_ESC"),
    "PWM_STEERING_THROTTLE": (
        {
            "PWM_STEERING_PIN": "PCA9685.1:40.1",
            "PWM_STEERING_SCALE": 1.0,
            "PWM_STEERING_INVERTED": False,
            "PWM_THROTTLE_PIN": "PCA9685.1:40.0",
            "PWM_THROTTLE_SCALE": 1.0,
            "PWM_THROTTLE_INVERTED": False,
            "STEERING_LEFT_PWM": 460,
            "STEERING_RIGHT_PWM": 290,
            "THROTTLE_FORWARD_PWM": 500,
            "THROTTLE_STOPPED_PWM": 370,
            "THROTTLE_REVERSE_PWM": 220,
        },
    ),
    "SERVO_HBRIDGE_2PIN": (
        {
            "FWD_DUTY_PIN": "RPI_GPIO.BOARD.18",
            "BWD_DUTY_PIN": "RPI_GPIO.BOARD.16",
            "PWM_STEERING_PIN": "RPI_GPIO.BOARD.33",
            "PWM_STEERING_SCALE": 1.0,
            "PWM_STEERING_INVERTED": False,
            "STEERING_LEFT_PWM": 460,
            "STEERING_RIGHT_PWM": 290,
        },
    ),
    "SERVO_HBRIDGE_3PIN": (
        {
            "FWD_PIN": "RPI_GPIO.BOARD.18",
            "BWD_PIN": "RPI_GPIO.BOARD.16",
            "DUTY_PIN": "RPI_GPIO.BOARD.35",
            "PWM_STEERING_PIN": "RPI_GPIO.BOARD.33",
            "PWM_STEERING_SCALE": 1.0,
            "PWM_STEERING_INVERTED": False,
            "STEERING_LEFT_PWM": 460,
            "STEERING_RIGHT_PWM": 290,
        },
    ),
    "DC_STEER_THROTTLE": (
        {
            "LEFT_DUTY_PIN": "RPI_GPIO.BOARD.18",
            "RIGHT_DUTY_PIN": "RPI_GPIO.BOARD.16",
            "FWD_DUTY_PIN": "RPI_GPIO.BOARD.15",
            "BWD_DUTY_PIN": "RPI_GPIO.BOARD.13",
        },
    ),
    "DC_TWO_WHEEL": (
        {
            "LEFT_FWD_DUTY_PIN": "RPI_GPIO.BOARD.18",
            "LEFT_BWD_DUTY_PIN": "RPI_GPIO.BOARD.16",
            "RIGHT_FWD_DUTY_PIN": "RPI_GPIO.BOARD.15",
            "RIGHT_BWD_DUTY_PIN": "RPI_GPIO.BOARD.13",
        },
    ),
    "DC_TWO_WHEEL_L298N": (
        {
            "LEFT_FWD_PIN": "RPI_GPIO.BOARD.16",
            "LEFT_BWD_PIN": "RPI_GPIO.BOARD.18",
            "LEFT_EN_DUTY_PIN": "RPI_GPIO.BOARD.22",
            "RIGHT_FWD_PIN": "RPI_GPIO.BOARD.15",
            "RIGHT_BWD_PIN": "RPI_GPIO.BOARD.13",
            "RIGHT_EN_DUTY_PIN": "RPI_GPIO.BOARD.11",
        },
    ),
    "VESC_MAX_SPEED_PERCENT": (0.2,),
    "VESC_SERIAL_PORT": ("/dev/ttyACM0",),
    "VESC_HAS_SENSOR": (True,),
    "VESC_START_HEARTBEAT": (True,),
    "VESC_BAUDRATE": (115200,),
    "VESC_TIMEOUT": (0.05,),
    "VESC_STEERING_SCALE": (0.5,),
    "VESC_STEERING_OFFSET": (0.5,),
    "MM1_STEERING_MID": (1500,),
    "MM1_MAX_FORWARD": (2000,),
    "MM1_STOPPED_PWM": (1500,),
    "MM1_MAX_REVERSE": (1000,),
    "MM1_SHOW_STEERING_VALUE": (False,),
    "MM1_SERIAL_PORT": ("/dev/ttyAMA0", "/dev/ttyS0"),
    "HAVE_SOMBRERO": (False,),
    "STEERING_CHANNEL": (1, 0),
    "STEERING_LEFT_PWM": (460,),
    "STEERING_RIGHT_PWM": (290,),
    "STEERING_PWM_PIN": (13,),
    "STEERING_PWM_FREQ": (50,),
    "STEERING_PWM_INVERTED": (False,),
    "THROTTLE_CHANNEL": (0,),
    "THROTTLE_FORWARD_PWM": (500,),
    "THROTTLE_STOPPED_PWM": (370,),
    "THROTTLE_REVERSE_PWM": (220,),
    "THROTTLE_PWM_PIN": (18,),
    "THROTTLE_PWM_FREQ": (50,),
    "THROTTLE_PWM_INVERTED": (False,),
    "HBRIDGE_PIN_LEFT": (18,),
    "HBRIDGE_PIN_RIGHT": (16,),
    "HBRIDGE_PIN_FWD": (15, 18),
    "HBRIDGE_PIN_BWD": (13, 16),
    "HBRIDGE_PIN_LEFT_FWD": (18,),
    "HBRIDGE_PIN_LEFT_BWD": (16,),
    "HBRIDGE_PIN_RIGHT_FWD": (15,),
    "HBRIDGE_PIN_RIGHT_BWD": (13,),
    "HAVE_ROBOHAT": (False,),
    "USE_RC": (False,),
    "STEERING_RC_GPIO": (26,),
    "THROTTLE_RC_GPIO": (20,),
    "DATA_WIPER_RC_GPIO": (19,),
    "PIGPIO_STEERING_MID": (1500,),
    "PIGPIO_MAX_FORWARD": (2000,),
    "PIGPIO_STOPPED_PWM": (1500,),
    "PIGPIO_MAX_REVERSE": (1000,),
    "PIGPIO_SHOW_STEERING_VALUE": (False,),
    "PIGPIO_INVERT": (False,),
    "PIGPIO_JITTER": (0.025,),
    "STEERING_ARDUINO_PIN": (6,),
    "STEERING_ARDUINO_LEFT_PWM": (120,),
    "STEERING_ARDUINO_RIGHT_PWM": (40,),
    "THROTTLE_ARDUINO_PIN": (5,),
    "THROTTLE_ARDUINO_FORWARD_PWM": (105,),
    "THROTTLE_ARDUINO_STOPPED_PWM": (90,),
    "THROTTLE_ARDUINO_REVERSE_PWM": (75,),
}

_SENSORS: dict[str, tuple[Any, ...]] = {
    "HAVE_ODOM": (False,),
    "ENCODER_TYPE": ("GPIO",),
    "MM_PER_TICK": (12.7625, 9.89601685880785),
    "ODOM_PIN": (13,),
    "ODOM_DEBUG": (False,),
    "USE_LIDAR": (False,),
    "LIDAR_TYPE": ("RP",),
    "LIDAR_LOWER_LIMIT": (90, 44),
    "LIDAR_UPPER_LIMIT": (270, 136),
    "HAVE_TFMINI": (False,),
    "TFMINI_SERIAL_PORT": ("/dev/serial0",),
    "HAVE_IMU": (False,),
    "IMU_SENSOR": ("mpu6050",),
    "IMU_ADDRESS": (104,),
    "IMU_DLP_CONFIG": (0,),
    "AXLE_LENGTH": (0.03,),
    "WHEEL_BASE": (0.1,),
    "WHEEL_RADIUS": (0.0315,),
    "MIN_THROTTLE": (0.1,),
    "MAX_STEERING_ANGLE": (0.7853981633974483,),
    "HAVE_ODOM_2": (False,),
    "ENCODER_PPR": (20,),
    "ENCODER_DEBOUNCE_NS": (0,),
    "FORWARD_ONLY": (1,),
    "FORWARD_REVERSE": (2,),
    "FORWARD_REVERSE_STOP": (3,),
    "TACHOMETER_MODE": (2,),
    "ODOM_SERIAL": ("/dev/ttyACM0",),
    "ODOM_SERIAL_BAUDRATE": (115200,),
    "ODOM_PIN_2": (14,),
    "ODOM_SMOOTHING": (1,),
    "HAVE_T265": (False,),
    "HAVE_GPS": (False,),
    "GPS_SERIAL": ("/dev/ttyUSB0",),
    "GPS_SERIAL_BAUDRATE": (115200,),
    "GPS_NMEA_PATH": (None,),
    "GPS_DEBUG": (False,),
    "WHEEL_ODOM_CALIB": ("calibration_odometry.json",),
    "MIN_SPEED": (0.1,),
    "MAX_SPEED": (3.0,),
}

_LIGHTS: dict[str, tuple[Any, ...]] = {
    "USE_SSD1306_128_32": (False,),
    "SSD1306_128_32_I2C_ROTATION": (0,),
    "SSD1306_RESOLUTION": (1,),
    "HAVE_RGB_LED": (False,),
    "LED_INVERT": (False,),
    "LED_PIN_R": (12,),
    "LED_PIN_G": (10,),
    "LED_PIN_B": (16,),
    "LED_R": (0,),
    "LED_G": (0,),
    "LED_B": (1,),
    "REC_COUNT_ALERT_CYC": (15,),
    "REC_COUNT_ALERT_BLINK_RATE": (0.4,),
    "RECORD_ALERT_COLOR_ARR": (
        [
            (0, (1, 1, 1)),
            (3000, (5, 5, 5)),
            (5000, (5, 2, 0)),
            (10000, (0, 5, 0)),
            (15000, (0, 5, 5)),
            (20000, (0, 0, 5)),
        ],
    ),
    "MODEL_RELOADED_LED_R": (100,),
    "MODEL_RELOADED_LED_G": (0,),
    "MODEL_RELOADED_LED_B": (0,),
    "BEHAVIOR_LED_COLORS": ([(0, 10, 0), (10, 0, 0)],),
    "SSD1306_128_32_I2C_BUSNUM": (1,),
}

_TRAINING: dict[str, tuple[Any, ...]] = {
    "SEND_BEST_MODEL_TO_PI": (False,),
    "PRUNE_CNN": (False,),
    "PRUNE_PERCENT_TARGET": (75,),
    "PRUNE_PERCENT_PER_ITERATION": (20,),
    "PRUNE_VAL_LOSS_DEGRADATION_LIMIT": (0.2,),
    "PRUNE_EVAL_PERCENT_OF_DATASET": (0.05,),
    "PI_USERNAME": ("pi",),
    "PI_HOSTNAME": ("donkeypi.local",),
    "CACHE_IMAGES": (True,),
    "SAVE_MODEL_AS_H5": (False, True),
}

_PATHS: dict[str, tuple[Any, ...]] = {
    "PATH_FILENAME": ("donkey_path.pkl", "donkey_path.csv"),
    "PATH_SCALE": (5.0, 10.0),
    "PATH_OFFSET": ((0, 0), (255, 255)),
    "PATH_MIN_DIST": (0.3, 0.2),
    "PID_P": (-10.0, -0.5, -0.01),
    "PID_I": (0.0,),
    "PID_D": (-0.2, -0.3, -0.0001),
    "PID_THROTTLE": (0.2, 0.5),
    "USE_CONSTANT_THROTTLE": (False,),
    "SAVE_PATH_BTN": ("cross", "circle"),
    "RESET_ORIGIN_BTN": ("triangle", "square"),
    "PATH_MASK": ("~/mycar/data/tub_1_20-03-12/*.jpg",),
    "PATH_DEBUG": (True,),
    "PATH_SEARCH_LENGTH": (10,),
    "PATH_LOOK_AHEAD": (1,),
    "PATH_LOOK_BEHIND": (1,),
    "PID_D_DELTA": (0.25, 5e-05),
    "PID_P_DELTA": (0.25, 0.005),
    "LOAD_PATH_BTN": ("x",),
    "ERASE_PATH_BTN": ("triangle",),
    "TOGGLE_RECORDING_BTN": ("option",),
    "INC_PID_D_BTN": (None,),
    "DEC_PID_D_BTN": (None,),
    "INC_PID_P_BTN": ("R2",),
    "DEC_PID_P_BTN": ("L2",),
    "CV_CONTROLLER_MODULE": ("donkeycar.parts.line_follower",),
    "CV_CONTROLLER_CLASS": ("LineFollower",),
    "CV_CONTROLLER_INPUTS": (["cam/image_array"],),
    "CV_CONTROLLER_OUTPUTS": (["pilot/steering", "pilot/throttle", "cv/image_array"],),
    "CV_CONTROLLER_CONDITION": ("run_pilot",),
    "SCAN_Y": (100,),
    "SCAN_HEIGHT": (20,),
    "COLOR_THRESHOLD_LOW": ((0, 50, 50),),
    "COLOR_THRESHOLD_HIGH": ((50, 255, 255),),
    "TARGET_PIXEL": (None,),
    "TARGET_THRESHOLD": (10,),
    "CONFIDENCE_THRESHOLD": (0.0015,),
    "THROTTLE_MAX": (0.3,),
    "THROTTLE_MIN": (0.15,),
    "THROTTLE_INITIAL": (0.15,),
    "OVERLAY_IMAGE": (True,),
    "THROTTLE_STEP": (0.05,),
}

_STOP_SIGNS: dict[str, tuple[Any, ...]] = {
    "STOP_SIGN_DETECTOR": (False,),
    "STOP_SIGN_MIN_SCORE": (0.2,),
    "STOP_SIGN_SHOW_BOUNDING_BOX": (True,),
    "STOP_SIGN_MAX_REVERSE_COUNT": (10,),
    "STOP_SIGN_REVERSE_THROTTLE": (-0.5,),
}

_NETWORK: dict[str, tuple[Any, ...]] = {
    "USE_NETWORKED_JS": (False,),
    "NETWORK_JS_SERVER_IP": (None, "192.168.0.1"),
    "HAVE_PERFMON": (False,),
    "HAVE_MQTT_TELEMETRY": (False,),
    "TELEMETRY_DONKEY_NAME": ("my_robot1234",),
    "TELEMETRY_MQTT_TOPIC_TEMPLATE": ("donkey/%s/telemetry",),
    "TELEMETRY_MQTT_JSON_ENABLE": (False,),
    "TELEMETRY_MQTT_BROKER_HOST": ("broker.hivemq.com",),
    "TELEMETRY_MQTT_BROKER_PORT": (1883,),
    "TELEMETRY_PUBLISH_PERIOD": (1,),
    "TELEMETRY_LOGGING_ENABLE": (True,),
    "TELEMETRY_LOGGING_LEVEL": ("INFO",),
    "TELEMETRY_LOGGING_FORMAT": ("%(message)s",),
    "TELEMETRY_DEFAULT_INPUTS": ("pilot/angle,pilot/throttle,recording",),
    "TELEMETRY_DEFAULT_TYPES": ("float,float",),
    "PUB_CAMERA_IMAGES": (False,),
}

_REASONS = (
    (_CAMERA, "the camera is the simulator's"),
    (_HARDWARE, "real hardware is not driven by this project"),
    (_SENSORS, "a simulated car has the simulator's sensors only, see SIM_RECORD_LOCATION and its kind"),
    (_LIGHTS, "a simulated car has no display and no lights"),
    (_TRAINING, "training does without it"),
    (_PATHS, "this car follows no recorded path and no line, it is driven by people and pilots"),
    (_STOP_SIGNS, "there is no stop sign detector"),
    (_NETWORK, "nothing is sent to other machines"),
)

UNUSED_KEYS = {name: UnusedKey(reason, defaults) for keys, reason in _REASONS for name, defaults in keys.items()} | {
    "DEFAULT_AI_FRAMEWORK": UnusedKey("pilots are Keras models on PyTorch, whatever it says", ("tensorflow",)),
    "CREATE_TENSOR_RT": UnusedKey("TensorRT files are not made; the .onnx file runs on any processor", (False,)),
    "BUTTON_PRESS_NEW_TUB": UnusedKey("AUTO_CREATE_NEW_TUB begins a tub with each drive", (False,)),
    "USE_FPV": UnusedKey("the control page shows the camera, and the watching page the whole car", (False,)),
}
"""Every such key."""


def is_untouched(name: str, value: object) -> bool:
    """Say whether a key without effect has a value that it has by default, so that nobody expects anything of it."""
    return any(type(value) is type(default) and value == default for default in UNUSED_KEYS[name].defaults)
