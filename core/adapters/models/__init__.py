"""Models on this machine: bundled ONNX weights, sentence-transformers, spaCy, what is trained here, bulk work on a Ray
cluster. The door is `registry.ModelRegistry`.
"""
