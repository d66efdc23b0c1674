"""The arrays that searches read: made from the record, mapped into memory."""
