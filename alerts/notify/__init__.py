"""Notifications: from a change of an incident to messages that its owners receive."""
