// Package postgrestest starts a PostgreSQL server for tests, from the Debian package postgresql, and gives each test a
// schema of its own.
package postgrestest
