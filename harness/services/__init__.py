"""Services: the scripted things a subject talks to. The table is ``registry``."""
