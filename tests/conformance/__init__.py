"""What every backend must do, tried on each one that this machine has."""
