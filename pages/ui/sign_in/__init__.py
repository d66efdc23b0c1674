"""Sign-in and sign-out over HTTP: pages without script, in front of the app. The door is `routes.ROUTES`."""
