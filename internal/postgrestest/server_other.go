//go:build !linux

package postgrestest

import "testing"

// Run runs a package's tests. It belongs into TestMain.
func Run(m *testing.M) (code int) { return m.Run() }

// Database skips the test: the server is started in a way that only Linux has.
func Database(t testing.TB) string {
	t.Helper()
	t.Skip("the PostgreSQL server for tests needs Linux")
	return ""
}
