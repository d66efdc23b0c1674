"""Concord.

`streamlit run streamlit_app.py` imports this file once to serve the app, then runs it as a script for every session.
"""

import streamlit as st

if __name__ == "__main__":  # a session
    from pages.ui import frame

    frame.draw()
else:  # the server
    from pages.ui.server import startup

    startup.prepare()

    from starlette.middleware import Middleware

    from core.entrypoints.api.application import ApiDoor
    from pages.ui.server import errors, routes
    from pages.ui.server.intake import Intake
    from pages.ui.server.security import Guard
    from pages.ui.sign_in.gate import SignInGate

    errors.keep_log_short()
    app = st.App(  # Streamlit looks for this call, in this file, to know that there is a server of our own
        __file__,
        routes=[*routes.ROUTES, *routes.MOUNTS],
        middleware=[
            Middleware(Guard),
            Middleware(Intake),
            Middleware(ApiDoor, api=routes.API),
            Middleware(SignInGate),
        ],
        lifespan=startup.lifespan,
        on_script_error=errors.show,
    )
