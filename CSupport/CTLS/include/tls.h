/* tls: see the implementation that follows. */
