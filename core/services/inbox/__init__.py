"""What reaches people: messages about reviews, due dates, questions and feedback, and what they watch. The doors are
`messages.Messages` and `watches.Watches`.
"""
