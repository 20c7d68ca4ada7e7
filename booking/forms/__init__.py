"""What people type into the portal's pages, one noun a module."""
