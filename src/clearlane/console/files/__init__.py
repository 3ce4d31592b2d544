"""Pages of files: those from and to payers, for operators, and those that sites send and fetch, for their people too."""
