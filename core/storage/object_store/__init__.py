"""Files that machines share on the S3 store of `CONCORD_STORE`. The door is `core/services/platform/base.py`."""
