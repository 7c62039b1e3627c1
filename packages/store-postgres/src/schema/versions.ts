import { base } from './base.ts'
import { blobTables } from './blob-tables.ts'
import { blobTriggers } from './blob-triggers.ts'
import { blobs } from './blobs.ts'
import { erasures } from './erasures.ts'
import { eventTables } from './event-tables.ts'
import { events } from './events.ts'
import { feedback } from './feedback.ts'
import { leases } from './leases.ts'
import { ledger } from './ledger.ts'
import { ledgerTables } from './ledger-tables.ts'
import { moves } from './moves.ts'
import { outbox } from './outbox.ts'
import { passages } from './passages.ts'
import { queueClaims } from './queue-claims.ts'
import { queues } from './queues.ts'
import { recordings } from './recordings.ts'
import { rollouts } from './rollouts.ts'
import { runAdds } from './run-adds.ts'
import { runLog } from './run-log.ts'
import { runTables } from './run-tables.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { sessionTables } from './session-tables.ts'
import { turns } from './turns.ts'
import { values } from './values.ts'

/** Tables come before the functions that use their types. */
const parts = [
  base,
  sessionTables,
  runTables,
  eventTables,
  ledgerTables,
  blobTables,
  outbox,
  values,
  recordings,
  feedback,
  erasures,
  passages,
  rollouts,
  leases,
  turns,
  moves,
  ledger,
  events,
  runs,
  runLog,
  queues,
  queueClaims,
  runAdds,
  schedules,
  blobs,
  blobTriggers,
]

/**
 * The SQL that makes each version of the schema out of the one before; the first one makes version 1. A change of the schema adds a step and
 * leaves the released ones as they are. `{s}` is replaced by the quoted schema name.
 */
export const versions: readonly string[] = [parts.join('\n')]
