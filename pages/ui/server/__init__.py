"""What stands around Streamlit on its server: routes, guards, start, and what is uploaded."""
