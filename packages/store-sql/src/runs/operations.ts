import type {
  DurableStatus,
  EndedStatus,
  OperatedStatus,
  RunCount,
  RunDescription,
  RunFilter,
  RunPendingCall,
  RunSummary,
  TimelineEntry,
} from '@allium/store'
import { checkName } from '../key.ts'
import type { SqlRow } from '../sql-row.ts'
import { type ColumnUsage, splitCosts } from './run-costs.ts'
import { runSummary } from './run-row.ts'

/** Most groups of a count. */
export const maxRunCounts = 1000
/** Most runs found by an id. */
export const maxFoundRuns = 10

const endedStatuses: readonly EndedStatus[] = ['completed', 'stopped', 'suspended', 'blocked', 'aborted', 'failed']

/** Returns the retention of each status in milliseconds. */
export function retentionByStatus(
  olderThan: number | Readonly<Partial<Record<EndedStatus, number>>>,
): [status: EndedStatus, ms: number][] {
  return endedStatuses.flatMap((status): [EndedStatus, number][] => {
    const ms = typeof olderThan === 'number' ? olderThan : olderThan[status]
    return ms === undefined ? [] : [[status, ms]]
  })
}

/** Returns the fields of a filter as statement parameters. @throws AlliumError `store.key` */
export function runFilterParams({ tenants, status, olderThan, ...names }: RunFilter) {
  const name = (field: keyof typeof names) => {
    const value = names[field]
    return value === undefined ? null : checkName(field, value)
  }
  return {
    tenants: tenants?.map((tenant) => checkName('tenant', tenant)) ?? null,
    status: status ?? null,
    agent: name('agent'),
    version: name('version'),
    queue: name('queue'),
    owner: name('owner'),
    session: name('session'),
    code: name('code'),
    olderThan: olderThan ?? null,
  }
}

/** The columns of `runs r` that operators see, without its status. Content is not even read. */
export const operatedColumns =
  'n, tenant, owner, session, session_agent, run, agent, version, queue, priority, run_at, attempts, code, updated_at'

export function operatedRunFromRow(row: SqlRow): RunSummary {
  const { worker, held_until: heldUntil } = row
  return {
    ...runSummary(row),
    status: row.status as OperatedStatus,
    updatedAt: Math.floor(Number(row.updated_at)),
    addedAt: Math.floor(Number(row.added_at)),
    ...(typeof worker === 'string' && { worker }),
    ...(row.status === 'running' && { heldUntil: Math.floor(Number(heldUntil)) }),
  }
}

export function runCountFromRow(row: SqlRow): RunCount {
  return {
    status: row.status as OperatedStatus,
    agent: String(row.agent),
    version: String(row.version),
    queue: String(row.queue),
    ...(typeof row.code === 'string' && { code: row.code }),
    count: Number(row.count),
    oldest: Math.floor(Number(row.oldest)),
  }
}

/** The rows of a described run. */
interface DescribedRows {
  readonly run: SqlRow
  /** The latest rows of `run_log`, newest first. */
  readonly log: readonly SqlRow[]
  readonly pending: readonly SqlRow[]
  /** The row of its turn. */
  readonly turn: SqlRow | undefined
}

export function runDescription({ run, log, pending, turn }: DescribedRows, limit: number): RunDescription {
  return {
    run: operatedRunFromRow(run),
    timeline: log
      .slice(0, limit)
      .map((row) => entryFromRow(run, row))
      .reverse(),
    hasEarlier: log.length > limit,
    pending: pending.map(pendingFromRow),
    ...(typeof turn?.usage === 'string' && costsOf(turn.usage)),
  }
}

function costsOf(column: string): Pick<RunDescription, 'usage' | 'cost' | 'calls'> {
  const { usage, costs } = splitCosts(JSON.parse(column) as ColumnUsage)
  return { usage, ...costs }
}

/** SQL for the id of a step in the timeline: without that of its run, with which it begins. */
export function stepInLog(step: string): string {
  const [id, run] = [`${step}.id`, `${step}.run`]
  return `case when substr(${id}, 1, length(${run}) + 1) = ${run} || ':' then substr(${id}, length(${run}) + 1) else ${id} end`
}

function entryFromRow({ run }: SqlRow, { kind, at: time, detail, attempt, code }: SqlRow): TimelineEntry {
  const at = Math.floor(Number(time))
  if (kind === 'claimed')
    return { type: kind, at, attempt: Number(attempt), ...(typeof detail === 'string' && { worker: detail }) }
  if (kind === 'step') return { type: kind, at, step: String(detail).replace(/^:/, `${run}:`) }
  if (kind !== 'ended') return { type: kind as 'added', at }
  return { type: kind, at, status: detail as DurableStatus, ...(typeof code === 'string' && { code }) }
}

function pendingFromRow({ call_id: callId, name, expires_at: expiresAt }: SqlRow): RunPendingCall {
  const expiry = expiresAt === null ? {} : { expiresAt: Math.floor(Number(expiresAt)) }
  return { callId: String(callId), name: String(name), ...expiry }
}
