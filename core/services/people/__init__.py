"""Who may come in, and who did what: accounts with roles, their sessions, and the audit. The door is `accounts.Accounts`."""
