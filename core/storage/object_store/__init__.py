"""Files that machines share, on an S3 store. The door is `core/services/platform/base.py`, where `CONCORD_STORE` names one."""
