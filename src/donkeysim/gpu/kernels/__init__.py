"""What a batch does on its device beside driving and drawing."""
