"""The same batch on a device: stepping, resets, randomisation and exchange of tensors."""
