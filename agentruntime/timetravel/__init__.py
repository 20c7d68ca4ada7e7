"""Reading, comparing, forking and replaying what was. Built by issue 4."""
