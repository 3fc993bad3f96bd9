#if ServiceLifecycle
    import ServiceLifecycle

    extension CampaignRun: Service {}
#endif
