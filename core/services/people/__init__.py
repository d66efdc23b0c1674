"""Accounts with roles, their sessions and tokens, and the audit. The door is `accounts.Accounts`."""
