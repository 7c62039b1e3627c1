import BetterSqlite from 'better-sqlite3'
import Libsql from 'libsql'

/** The drivers that the peers use, to count statements. */
export const drivers = [BetterSqlite, Libsql]
