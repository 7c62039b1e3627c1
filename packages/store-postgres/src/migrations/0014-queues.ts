import { queueAdds } from './0014-queue-adds.ts'
import { queueClaims } from './0014-queue-claims.ts'
import { queueLimits } from './0014-queue-limits.ts'
import { queueTables } from './0014-queue-tables.ts'

/** Queues with limits over all processes. Processes of the version before can still use this schema: they know the default queue only. */
export const queues = [queueTables, queueLimits, queueClaims, queueAdds].join('\n')
