import APNSBatch

/// Where programs that monitor a run find its metrics.
extension Setting {
    static let monitoring: [Setting] = [
        Setting(
            "metricsTextfile", .path, scope: .machine, parts: .refused, standard: "none",
            "File (.prom) or directory for the textfile collector of the Prometheus node exporter."),
        Setting(
            "metricsInterval", .whole, scope: .run, parts: .refused, standard: "15",
            "Seconds between two writings of that file, besides those when the state changes: 1 to 86400."
        ) { _ = try CampaignSettings.patience($1) },
        Setting(
            "metricsListen", .text, scope: .machine, parts: .refused, standard: "none",
            "Port, or ADDRESS:PORT, at which a run answers GET /metrics, /progress and /healthz. A port alone is on 127.0.0.1."
        ) { _ = try $1.parsed(ListeningAddress.form, ListeningAddress.init) },
    ]
}
