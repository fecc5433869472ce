"""The defaults of this car.

Leave this file as it is: `donkey update` replaces it. Put your own settings into myconfig.py beside it, which has every
line below, commented out. The guide says what values a key takes, and so does the program when one is wrong.
"""

import os

# ---- Paths
CAR_PATH = PACKAGE_PATH = os.path.dirname(os.path.realpath(__file__))  # this folder, by both of the original's names
DATA_PATH = os.path.join(CAR_PATH, "data")  # where drives are recorded
MODELS_PATH = os.path.join(CAR_PATH, "models")  # pilots that the page offers, and those trained without --model

# ---- Vehicle loop
DRIVE_LOOP_HZ = 20  # loops per second; each records at most one picture
MAX_LOOPS = None  # stop after this many loops; None or 0: drive until stopped

# ---- Camera
IMAGE_W = 160  # width of a picture in pixels
IMAGE_H = 120  # height of a picture in pixels
IMAGE_DEPTH = 3  # 3: colour, 1: grey

# ---- Simulator
DONKEY_GYM = True  # the car is simulated; this project drives no other
DONKEY_SIM_PATH = ""  # "": the built-in simulator; or the path of a simulator to start; or "remote": at SIM_HOST
# The tracks: donkey-generated-track-v0, donkey-generated-roads-v0, donkey-warehouse-v0, donkey-avc-sparkfun-v0,
# donkey-mountain-track-v0, donkey-roboracingleague-track-v0, donkey-waveshare-v0, donkey-minimonaco-track-v0,
# donkey-warren-track-v0, donkey-thunderhill-track-v0, donkey-circuit-launch-track-v0; see also `donkey tracks`.
DONKEY_GYM_ENV_NAME = "donkey-generated-track-v0"  # the track: one of these, a scene's name or a track file
GYM_CONF = {  # how the car looks (until the page says otherwise) and who drives it; also the camera, as the original's
    "body_style": "donkey",  # donkey, bare, car01, cybertruck, f1
    "body_rgb": (220, 40, 30),  # colour of the body, 0 to 255 each
    "car_name": "car",  # the name plate
    "font_size": 100,  # size of its letters
    "racer_name": "Your Name",
    "country": "Place",
    "bio": "I race robots.",
}
SIM_HOST = "127.0.0.1"  # where the simulator listens when DONKEY_SIM_PATH is "remote"
SIM_PORT = 9091  # its port; a simulator started by DONKEY_SIM_PATH is told to listen there
SIM_ARTIFICIAL_LATENCY = 0  # milliseconds by which pictures and readings are late, as over a slow network
SIM_SEED = 0  # seed of the simulator's random numbers
SIM_RECORD_LOCATION = False  # record pos/pos_x, pos_y, pos_z, pos/speed, pos/cte
SIM_RECORD_GYROACCEL = False  # record gyro/gyro_x, y, z and accel/accel_x, y, z
SIM_RECORD_VELOCITY = False  # record vel/vel_x, y, z
SIM_RECORD_LIDAR = False  # record lidar/dist_array

# ---- Control page
WEB_CONTROL_HOST = "127.0.0.1"  # "0.0.0.0": phones in this network may drive too, with the token that is printed
WEB_CONTROL_PORT = int(os.getenv("WEB_CONTROL_PORT", "8887"))  # port of http://localhost:8887/drive
WEB_CONTROL_TLS = False  # serve over https, with a self-signed certificate; phones need it for tilt control
WEB_INIT_MODE = "user"  # who drives at the start: "user", "local_angle" (pilot steers) or "local" (pilot drives)
WEB_KEYS_HOLD = False  # True: throttle and steering stay when a key is let go, as on the original's page
SHOW_PILOT_IMAGE = False  # show the pilot's transformed picture while it drives
WATCH_PAGE_PORT = 9093  # page to watch the car from outside, built-in simulator only; 0: any free port, None: no page
WATCH_PAGE_URL = ""  # page of a simulator that is another program, for the control page's link and views

# ---- Joystick
USE_JOYSTICK_AS_DEFAULT = False  # as if every drive had --js
CONTROLLER_TYPE = "xbox"  # or ps3, ps3sixad, ps4, ps5, xboxswapped, nimbus, wiiu, F710, rc3, pygame, custom
JOYSTICK_DEVICE_FILE = "/dev/input/js0"  # the device
JOYSTICK_MAX_THROTTLE = 0.5  # throttle at full stick; buttons change it while driving
JOYSTICK_STEERING_SCALE = 1.0  # steering at full stick
JOYSTICK_DEADZONE = 0.01  # throttle below it does not record
JOYSTICK_THROTTLE_DIR = -1.0  # -1.0: forward is stick up; 1.0: stick down

# ---- Recording
AUTO_RECORD_ON_THROTTLE = True  # record whenever a person gives throttle with the joystick
RECORD_DURING_AI = False  # also record while a pilot drives, with its answers
RECORD_ALL = False  # also record while the car stands, is off the road or was just put back to its start
AUTO_CREATE_NEW_TUB = False  # record each drive into a new tub data/tub_1_26-01-31 instead of all into data
REC_COUNT_ALERT = 1000  # print a message whenever this many more have been recorded
METADATA = []  # pairs (key, value) written into the tub, as --meta key:value does

# ---- Driving with a pilot
AI_THROTTLE_MULT = 1.0  # factor for the pilot's throttle
AI_LAUNCH_DURATION = 0.0  # seconds of launch throttle when the pilot takes over; 0.0: no launch
AI_LAUNCH_THROTTLE = 0.0  # throttle of a launch
AI_LAUNCH_ENABLE_BUTTON = "R2"  # joystick button that arms the launch
AI_LAUNCH_KEEP_ENABLED = False  # launch each time the pilot takes over, without arming

# ---- Training
DEFAULT_MODEL_TYPE = "linear"  # linear, categorical, inferred, memory, imu, behavior, localizer, rnn, 3d
TRAIN_RECIPE = "recovery"  # linear pilots learn from a minute's driving to come back; "original": as donkeycar trains
BATCH_SIZE = 128  # records per training step
TRAIN_TEST_SPLIT = 0.8  # share of the records to train with; the rest is for validation
MAX_EPOCHS = 100  # maximum number of passes over all records
USE_EARLY_STOP = True  # stop when there is no more progress
EARLY_STOP_PATIENCE = 5  # epochs without progress before training stops; the first 250 steps do not count
MIN_DELTA = 0.0005  # smaller changes of the validation loss do not count as progress
OPTIMIZER = None  # "adam", "sgd", "rmsprop"; None: the one that suits the kind of pilot
LEARNING_RATE = 0.001  # size of a step
LEARNING_RATE_DECAY = 0.0  # after n steps the rate is LEARNING_RATE / (1 + LEARNING_RATE_DECAY * n)
FREEZE_LAYERS = False  # after --transfer only the last layers learn
NUM_LAST_LAYERS_TO_TRAIN = 7  # how many of them learn
CACHE_POLICY = "ARRAY"  # pictures in memory: decoded ("ARRAY"), as files ("BINARY"), or none ("NOCACHE")
SHOW_PLOT = True  # save a plot of the losses beside the model
VERBOSE_TRAIN = True  # show progress within an epoch
PRINT_MODEL_SUMMARY = True  # list the layers before training
CREATE_TF_LITE = True  # also write the model as .tflite, in float32 and in integers, and as .onnx
TRAIN_SEED = 0  # seed of the split, the initial weights, the order and the augmentations
TRAIN_PRECISION = "auto"  # "float32", "bfloat16", or "auto": bfloat16 where the processor supports it
MODEL_CATEGORICAL_MAX_THROTTLE_RANGE = 0.8  # largest throttle of a categorical pilot
SEQUENCE_LENGTH = 3  # pictures, or earlier controls, that rnn, 3d and memory look at
MEM_DEPTH = 0  # extra layers for the earlier controls of a memory pilot
TRAIN_FILTER = None  # a function of a record that returns whether to train with it
TRAIN_BEHAVIORS = False  # record and learn which of BEHAVIOR_LIST is active
BEHAVIOR_LIST = ["Left_Lane", "Right_Lane"]  # what a behavior pilot can be told to do
TRAIN_LOCALIZER = False  # record and learn which of NUM_LOCATIONS parts of the track the car is in
NUM_LOCATIONS = 10  # parts of the track that a localizer pilot tells apart

# ---- Pictures: augmented in training only, transformed in driving too
AUGMENTATIONS = []  # of half of the pictures: "BRIGHTNESS", "BLUR"; of all: "MULTIPLY", "CROP", "TRAPEZE"
AUG_BRIGHTNESS_RANGE = 0.2  # brightness and contrast change by up to this share
AUG_MULTIPLY_RANGE = (0.5, 1.5)  # MULTIPLY: factor of the brightness, lowest and highest
AUG_BLUR_RANGE = (0, 3)  # standard deviation of the blur in pixels, lowest and highest
TRANSFORMATIONS = []  # before augmentation, in this order, for example ["CROP", "RGB2GRAY", "GRAY2RGB"]
POST_TRANSFORMATIONS = []  # after augmentation
ROI_CROP_TOP = 45  # CROP: rows to black out at the top
ROI_CROP_BOTTOM = 0  # CROP: rows to black out at the bottom
ROI_CROP_RIGHT = 0  # CROP: columns to black out at the right
ROI_CROP_LEFT = 0  # CROP: columns to black out at the left
ROI_TRAPEZE_LL = 0  # TRAPEZE: column of its lower left corner
ROI_TRAPEZE_LR = 160  # TRAPEZE: column of its lower right corner; TRAPEZE_EDGE: from the right edge
ROI_TRAPEZE_UL = 20  # TRAPEZE: column of its upper left corner
ROI_TRAPEZE_UR = 140  # TRAPEZE: column of its upper right corner; TRAPEZE_EDGE: from the right edge
ROI_TRAPEZE_MIN_Y = 60  # TRAPEZE: row of its upper edge
ROI_TRAPEZE_MAX_Y = 120  # TRAPEZE: row of its lower edge; TRAPEZE_EDGE: from the bottom
CANNY_LOW_THRESHOLD = 60  # CANNY: an edge goes on while it is steeper than this
CANNY_HIGH_THRESHOLD = 110  # CANNY: an edge begins where it is steeper than this
CANNY_APERTURE = 3  # CANNY: size of its filter
BLUR_KERNEL = 5  # BLUR: width of its filter, odd
BLUR_KERNEL_Y = None  # BLUR: height of its filter; None: the same as the width
BLUR_GAUSSIAN = True  # BLUR: weighted by a Gaussian; False: plain mean
RESIZE_WIDTH = 160  # RESIZE: width of the new picture
RESIZE_HEIGHT = 120  # RESIZE: its height
SCALE_WIDTH = 1.0  # SCALE: factor for the width
SCALE_HEIGHT = None  # SCALE: factor for the height; None: the same as for the width

# ---- Terminal
HAVE_CONSOLE_LOGGING = True  # log to the terminal
LOGGING_LEVEL = "INFO"  # DEBUG, INFO, WARNING, ERROR, CRITICAL
LOGGING_FORMAT = "%(message)s"  # a format of Python's logging
SHOW_FPS = False  # print how many loops per second were driven
FPS_DEBUG_INTERVAL = 10  # seconds between these lines
