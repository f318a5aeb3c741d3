// Package sqlinventory is the inventory on a database that database/sql reaches. Its packages sqlite and postgres
// open one; this package has no driver, so that a backend carries only the one that it uses.
//
// A row is a row of the table executors_running, its launch snapshot one of launch_snapshots. A write is one statement that
// names the instance, the generation, the owner and the epoch that it was made from, and so changes one row or none.
// Where it changed none, the row is read again and says why. No transaction is held open between reading and writing.
//
// The schema only moves forward (migrate.go). What the databases do in their own way is a Dialect.
package sqlinventory
