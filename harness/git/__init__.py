"""Git's data, read and written without git: nothing here runs a program or heeds a config."""
