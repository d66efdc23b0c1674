"""What models cost: prices, the ledger of every paid call, the monthly budget. The door is `ledger.Ledger`."""
