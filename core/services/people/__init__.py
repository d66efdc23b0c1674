"""Who may come in, and who did what: accounts with roles, and the audit. The door is `accounts.Accounts`."""
