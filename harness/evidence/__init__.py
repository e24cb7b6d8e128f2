"""What a trial leaves behind: the values (``model``), the files they are kept in (``store``)."""
