"""What the failures of a corpus are: the shares of the classes, and what is still unclassified."""
