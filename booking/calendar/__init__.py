"""Bookings as calendars: iCalendar files, invitations by mail, feeds. Reads; sends what waits."""
