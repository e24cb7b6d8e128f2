"""The scripted model: plays a script in the words of the protocols that agents speak."""
