"""The model that is asked, behind one shape, over three protocols."""
