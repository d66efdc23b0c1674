"""Files that machines share, on an S3 store. The door is `core/bootstrap.py`, where `CONCORD_STORE` names one."""
