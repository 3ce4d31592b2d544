"""What every command uses: the table of commands, output, progress, and the three kinds of command."""
