import APNSBatchBasics
import CAPNSPostgres

/// The client library of PostgreSQL, which is loaded when it is first asked for.
enum LibPQ {
    /// - Throws: ``DatabaseError`` with `configuration` if it is not installed.
    static func functions() throws(DatabaseError) -> apns_postgres {
        var record = apns_error()
        guard let found = unsafe apns_postgres_load(&record) else {
            throw DatabaseError(
                .configuration,
                "the client library of PostgreSQL is needed, and cannot be loaded (Debian: apt-get install libpq5): "
                    + textOfCharacters(record.text))
        }
        return unsafe found.pointee
    }

    /// Throws if a text is no connection string of libpq, or if it has a password: all users of the machine can read arguments,
    /// and campaign files and ledgers are copied. The text is in no message.
    static func check(_ text: String) throws(DatabaseError) {
        let library = try functions()
        var message: UnsafeMutablePointer<CChar>?
        let options = unsafe library.conninfo_parse(text, &message)
        unsafe library.free_memory(message)
        guard let options = unsafe options else {
            throw DatabaseError(
                .configuration,
                "expected a connection string of libpq, such as \"service=push\" or \"host=db dbname=push\"")
        }
        defer { unsafe library.conninfo_free(options) }
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            let name = unsafe String(cString: keyword)
            if ["password", "sslpassword"].contains(name), let value = unsafe option.pointee.val, unsafe value[0] != 0 {
                throw DatabaseError(
                    .configuration,
                    "the connection string has a password; give it by a password file (PGPASSFILE), a service file "
                        + "(PGSERVICEFILE) or the environment (PGPASSWORD)")
            }
            unsafe option += 1
        }
    }
}
