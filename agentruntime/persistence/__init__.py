"""Where the runtime's rows are read and written. Imports no layer above it."""
