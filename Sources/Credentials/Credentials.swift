// Credentials
