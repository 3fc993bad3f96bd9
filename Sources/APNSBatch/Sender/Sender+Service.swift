#if ServiceLifecycle
    import ServiceLifecycle

    extension Sender: Service {}
#endif
