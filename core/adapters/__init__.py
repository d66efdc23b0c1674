"""What can be exchanged, one room per system: models, web, conversion, the machine. Only the `wiring` of rooms makes
what is here.
"""
