"""Pages for operators: connections, files, accounts, people, audit, webhooks, and the sandbox."""
