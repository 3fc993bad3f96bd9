/* h2: see the implementation that follows. */
