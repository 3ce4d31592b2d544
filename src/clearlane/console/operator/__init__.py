"""Pages for operators: connections, accounts, people, audit, webhooks, and the sandbox."""
