"""Files of pilots: `.h5` and `.keras` of Keras 2 and 3, `.onnx` and `.tflite`; read without Keras and PyTorch."""
