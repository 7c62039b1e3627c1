import { AlliumError, isAlliumError, type Lease, type SessionKey, toJson } from '@allium/core'
import type {
  ClaimedRun,
  DurableRun,
  DurableStatus,
  ExpiredCalls,
  NewDurableRun,
  RecordedStep,
  RunningAgent,
} from '@allium/store'
import { type Blobs, retryRead } from './blobs/blobs.ts'
import { type SealedRow, sealedRow } from './blobs/sealed-row.ts'
import type { EncryptionContext } from './encryption.ts'
import { checkKey, checkName } from './key.ts'
import type { Sealer } from './sealer.ts'
import { type SqlRow, toBytes } from './sql-row.ts'

/** One step of priority counts as this many milliseconds of waiting. */
export const priorityStep = 60_000
/** The largest distance of a priority from 0. */
const maxPriority = 1000

/** The largest distance of a JavaScript date from the epoch, in milliseconds. */
const maxTimestamp = 8.64e15

/** @throws AlliumError `run.options` for a time outside of the range of dates */
export function checkRunAt(runAt: number | undefined): void {
  if (runAt === undefined || Math.abs(runAt) <= maxTimestamp) return
  throw new AlliumError(
    'run.options',
    `The option runAt is ${runAt}, which is not a valid time. Pass milliseconds since the epoch, such as Date.parse('2026-11-01').`,
  )
}

/** Returns the queue and the priority of a new run. @throws AlliumError `run.options` for a priority out of range, `store.key` */
export function checkQueue({ queue = 'default', priority = 0 }: Pick<NewDurableRun, 'queue' | 'priority'>): {
  queue: string
  priority: number
} {
  if (Number.isInteger(priority) && Math.abs(priority) <= maxPriority)
    return { queue: checkName('queue', queue), priority }
  throw new AlliumError(
    'run.options',
    `The option priority is ${priority}. Pass a whole number from -${maxPriority} to ${maxPriority}; a smaller number starts earlier.`,
  )
}

/** Returns the task of a run as bytes of its row, with the blobs that it refers to. */
export async function sealTask(sealer: Sealer, key: SessionKey, run: string, task: unknown): Promise<SealedRow> {
  checkName('id of the run', run)
  return sealedRow(sealer, key, task, runContext(checkKey(key), key.agent, run, 'task'))
}

/** Returns the key of a run as statement parameters. @throws AlliumError `store.key` */
export function runRowKey({ tenant, run }: { tenant: string; run: string }): [tenant: string, run: string] {
  return [checkName('tenant', tenant), checkName('id of the run', run)]
}

/** Reads a run with its task. */
export async function readRun(
  blobs: Blobs,
  findRow: () => SqlRow | undefined | Promise<SqlRow | undefined>,
): Promise<DurableRun | undefined> {
  let row: SqlRow | undefined
  try {
    return await retryRead(async () => {
      row = await findRow()
      return row && runFromRow(blobs, row)
    })
  } catch (error) {
    if (row === undefined || !isPermanent(error)) throw error
    return { ...runSummary(row), task: undefined, unreadable: error }
  }
}

async function runFromRow(blobs: Blobs, row: SqlRow): Promise<DurableRun> {
  const { run, key } = runSummary(row)
  const task =
    row.task === null
      ? undefined
      : await blobs.open(key, toBytes(row.task), runContext(key, String(row.sealed_as), run, 'task'))
  return { ...runSummary(row), task }
}

/** Returns a run and its task from its row. */
async function openRun(blobs: Blobs, row: SqlRow): Promise<DurableRun> {
  try {
    return await runFromRow(blobs, row)
  } catch (error) {
    if (!isPermanent(error)) throw error
    return { ...runSummary(row), task: undefined, unreadable: error }
  }
}

/** A claimed run with its row. */
export interface ClaimedRow {
  readonly row: SqlRow
  readonly lease: Lease
}

/** Most queries per claim while rows cannot be opened. */
const maxPages = 20

/**
 * Claims runs and opens their tasks. Runs that cannot be opened now are released in the end, as if they had not been claimed. Until then
 * it holds them, so that the next query finds later runs. A run whose task can never be opened is returned without it.
 *
 * @param of.ms the duration of the leases, in milliseconds
 * @param query claims at most `limit` runs
 * @throws AlliumError `store.unavailable` when none of them can be opened now
 */
export async function openClaims(
  blobs: Blobs,
  { limit, ms, alone = false }: { limit: number; ms: number; alone?: boolean },
  query: (of: { limit: number; alone: boolean }) => readonly ClaimedRow[] | Promise<readonly ClaimedRow[]>,
  release: (lease: Lease, run: string) => void | Promise<void>,
): Promise<ClaimedRun[]> {
  const claimed: ClaimedRun[] = []
  const unopened: ClaimedRow[] = []
  let failure: unknown
  // The leases of the first runs must not expire meanwhile.
  const deadline = performance.now() + ms / 4
  for (let page = 0; page < maxPages && claimed.length < limit; page++) {
    const rows = await query({ limit: limit - claimed.length, alone: alone && claimed.length === 0 })
    const opened = await Promise.allSettled(
      rows.map(async ({ row, lease }) => ({ run: await openRun(blobs, row), lease })),
    )
    for (const [i, one] of opened.entries())
      if (one.status === 'fulfilled') claimed.push(one.value)
      else {
        failure = one.reason
        unopened.push(rows[i] as ClaimedRow)
      }
    if (opened.every(({ status }) => status === 'fulfilled') || performance.now() > deadline) break
  }
  for (const { row, lease } of unopened) await release(lease, String(row.run))
  if (failure !== undefined && claimed.length === 0) throw failure
  return claimed
}

/**
 * Returns the calls of the runs that can be opened. The others are retried later, and delay none of them. One call reads at most 20 pages:
 * the next one continues behind them, so that any number of runs whose keys are lost cannot keep later runs from being found.
 *
 * @param of.scans where the next call continues, by the names of the agents; the store keeps it between calls
 * @param query returns at most `limit` rows after the row with the number `after`
 */
export async function openOverdueCalls(
  blobs: Blobs,
  { agents, limit, scans }: { agents: readonly RunningAgent[]; limit: number; scans: OverdueScans },
  query: (after: number) => Promise<readonly OverdueRow[]> | readonly OverdueRow[],
): Promise<ExpiredCalls[]> {
  const overdue: ExpiredCalls[] = []
  const names = JSON.stringify(agents.map(({ name }) => name))
  for (let page = 0; page < maxPages && overdue.length === 0; page++) {
    const rows = await query(scans.get(names) ?? 0)
    const opened = await Promise.all(rows.map((row) => openOverdue(blobs, row)))
    overdue.push(...opened.flat())
    scans.set(names, Number(rows.at(-1)?.row.n))
    if (rows.length === limit) continue
    scans.delete(names)
    break
  }
  return overdue
}

/** The number of the last run that was read, by the names of the agents. Without an entry, the next call begins with the oldest run. */
export type OverdueScans = Map<string, number>

interface OverdueRow {
  readonly row: SqlRow
  readonly callIds: readonly string[]
}

async function openOverdue(blobs: Blobs, { row, callIds }: OverdueRow): Promise<ExpiredCalls[]> {
  try {
    const run = await openRun(blobs, row)
    return run.unreadable === undefined ? [{ run, callIds }] : []
  } catch (error) {
    if (isAlliumError(error, 'store.unavailable')) return []
    throw error
  }
}

function isPermanent(error: unknown): error is AlliumError {
  return isAlliumError(error, 'store.sealed') || isAlliumError(error, 'store.corrupt')
}

/** Returns a run as listed, without its task. */
export function runSummary(row: SqlRow): Omit<DurableRun, 'task'> {
  return {
    run: String(row.run),
    key: {
      tenant: String(row.tenant),
      owner: String(row.owner),
      agent: String(row.session_agent),
      sessionId: String(row.session),
    },
    agent: String(row.agent),
    version: String(row.version),
    status: row.status as DurableStatus,
    queue: String(row.queue),
    priority: Number(row.priority),
    runAt: Math.floor(Number(row.run_at)),
    attempts: Number(row.attempts),
    ...(typeof row.stop === 'string' && { stop: row.stop }),
    ...(typeof row.code === 'string' && { code: row.code }),
    ...(typeof row.reason === 'string' && { reason: row.reason }),
  }
}

/** Returns a step as bytes of its row, with the blobs that it refers to. */
export async function sealStep(
  sealer: Sealer,
  key: SessionKey,
  run: string,
  { id, body }: RecordedStep,
): Promise<SealedRow> {
  return sealedRow(sealer, key, body, runContext(key, key.agent, run, `step ${id}`))
}

/** Opens the steps of a run one after the other, because opening all of their images at once would block the event loop. */
export async function stepsOf(
  blobs: Blobs,
  key: SessionKey,
  run: string,
  rows: readonly SqlRow[],
): Promise<RecordedStep[]> {
  const steps: RecordedStep[] = []
  for (const row of rows) {
    const id = String(row.id)
    const context = runContext(key, String(row.sealed_as), run, `step ${id}`)
    steps.push({ id, body: await blobs.open(key, toBytes(row.body), context) })
  }
  return steps
}

export function idempotencyKeyReused({ sessionId }: SessionKey, idempotencyKey: string, run: string): AlliumError {
  return new AlliumError(
    'run.key_reused',
    `The idempotency key "${idempotencyKey}" was already used for another task of the session "${sessionId}". Use a unique key for each task.`,
    { details: { sessionId, run } },
  )
}

export function sessionBusy({ sessionId }: SessionKey, heldUntil: number): AlliumError {
  return new AlliumError(
    'session.busy',
    `The session "${sessionId}" is running a turn. Try again when it has ended. Nothing was started.`,
    { details: { sessionId, heldUntil } },
  )
}

export function notPending({ sessionId }: SessionKey, callIds: readonly string[]): AlliumError {
  const calls = callIds.map((id) => toJson(id)).join(', ')
  return new AlliumError(
    'approval.used',
    `The session "${sessionId}" has no pending call ${calls}. A call can be decided only once. Nothing was started.`,
    { details: { sessionId } },
  )
}

function runContext(
  { tenant, owner, sessionId }: SessionKey,
  sealedAs: string,
  run: string,
  part: string,
): EncryptionContext {
  return { tenant, row: JSON.stringify(['run', owner, sealedAs, sessionId, run, part]) }
}
