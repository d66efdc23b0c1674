"""Files of people on their way in: unpacked, converted, compared."""
