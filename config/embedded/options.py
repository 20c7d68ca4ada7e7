"""How the embedded PostgreSQL is made and run: initdb's options, its settings, its first statements."""

from config.embedded import PORT, ROLE

SERVER_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": str(PORT),
    "cluster_name": ROLE,
    "max_connections": "200",
    "client_connection_check_interval": "2s",
    "shared_preload_libraries": "pg_stat_statements",
    "synchronous_commit": "on",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    # What people said must not reach the log with a statement that failed.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
INITDB_OPTIONS = (
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth-local=peer",
    "--auth-host=reject",
)
FIRST_STATEMENTS = (
    f"CREATE ROLE {ROLE} LOGIN CREATEDB IN ROLE pg_monitor",
    "CREATE EXTENSION pg_stat_statements",
    f"CREATE DATABASE {ROLE} OWNER {ROLE}",
)
