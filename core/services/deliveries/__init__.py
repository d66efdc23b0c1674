"""What the inbox holds, on its way out by mail and webhooks. The doors are `choices.MailChoices`, `webhooks.Webhooks`
and `board.DeliveryBoard`; `sender.Sender` does the work.
"""
