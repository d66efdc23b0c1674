"""Models on this machine: bundled ONNX weights, sentence-transformers, spaCy, trained alphas. The door is `registry.ModelRegistry`."""
