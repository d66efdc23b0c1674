"""The repositories: one class per table or group of tables, each with named methods. The door is `../database.py`."""
