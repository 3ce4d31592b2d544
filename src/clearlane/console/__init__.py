"""The web console: a person signs in and sees how the installation is, and the claims of his sites."""
