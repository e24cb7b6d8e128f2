"""The agent: conversations, and the loop that carries them on."""
