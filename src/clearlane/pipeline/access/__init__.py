"""Let people in.

``sign_in`` is called by the console: it checks password and code, begins a session, and resumes it on each page.
``proxy_login`` is called by the API to issue tokens and login URLs, and by the console when such a URL is opened; it
leads to the login page and signs nobody in.
"""
