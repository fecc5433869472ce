"""Files of pilots: `.h5` and `.keras` of Keras 2 and 3, and `.onnx`; reading them needs neither Keras nor PyTorch."""
