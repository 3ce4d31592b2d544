"""The web console: users sign in and see the claims of their sites and the health of the installation."""
