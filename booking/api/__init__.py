"""The programs' door: `/api/v1/`, one noun a module. Reads by selectors, writes by services."""
