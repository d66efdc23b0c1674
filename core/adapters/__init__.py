"""What can be exchanged, one room per system: models, web, conversion, the machine. Only `core.bootstrap` makes what is here."""
