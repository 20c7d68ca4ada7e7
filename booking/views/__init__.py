"""The portal's pages, one noun a module. They read through selectors and write through services."""
