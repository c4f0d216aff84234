"""Pages on a GPU: the engine's side of staged copies, by the driver's library alone."""
