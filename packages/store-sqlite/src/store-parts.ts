import type { Blobs, Sealer } from '@allium/store-sql'
import type { SqliteBlobs } from './blob/blobs.ts'
import type { Database } from './database/database.ts'
import type { SharedClock } from './database/machine-clock.ts'
import type { ErasureLog } from './lease/erasure-log.ts'
import type { Leases } from './lease/leases.ts'
import type { Writers } from './lease/writers.ts'

/** The parts that the components of a store share. */
export interface StoreParts {
  readonly db: Database
  readonly clock: SharedClock
  readonly leases: Leases
  readonly writers: Writers
  readonly sealer: Sealer
  readonly erasures: ErasureLog
  readonly blobs: Blobs
  readonly blobTable: SqliteBlobs
}
