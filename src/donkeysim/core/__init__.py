"""What every room shares: types, frames, errors, clocks, pictures, configuration, kernels, and what a pilot is."""
