"""Sign people in, and limit what they may see.

``sign_in`` is called by the console: it checks password and code, begins a session, and resumes it on each page;
``failed_sign_ins`` records what was refused there and at the API. ``invitations`` gives a person an address of
``sign_in_link``, which signs in once, and lets people set up their own password and second factor; ``change_role``
changes what they may do. ``proxy_login`` is called by the API to issue tokens and login URLs, and by the console when
such a URL is opened; it leads to the login page and does not sign in. ``api_key_uses`` records when API keys were last used.
"""
