/* crypto: see the implementation that follows. */
