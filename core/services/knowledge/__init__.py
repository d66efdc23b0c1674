"""What the team knows: documents at any version, who wrote each line, what is due and what is missing. The door is
`documents.Documents`.
"""
