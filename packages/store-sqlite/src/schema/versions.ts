import { blobs } from './blobs.ts'
import { erasures } from './erasures.ts'
import { events } from './events.ts'
import { feedback } from './feedback.ts'
import { ledger } from './ledger.ts'
import { outbox } from './outbox.ts'
import { passages } from './passages.ts'
import { queues } from './queues.ts'
import { recordings } from './recordings.ts'
import { rollouts } from './rollouts.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { sessions } from './sessions.ts'
import { values } from './values.ts'

const sessionTables = sessions + outbox + ledger + values + erasures + events
const base = sessionTables + runs + queues + schedules + blobs + recordings + rollouts + feedback + passages

/**
 * The SQL that makes each version of the schema out of the one before; the first one makes an empty file version 1. A change of the schema
 * adds a step and leaves the released ones as they are.
 */
export const versions: readonly string[] = [base]
