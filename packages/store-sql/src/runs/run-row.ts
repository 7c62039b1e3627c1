import { type AlliumError, isAlliumError, type SessionKey } from '@allium/core'
import type { DurableRun, DurableStatus } from '@allium/store'
import { type Blobs, retryRead } from '../blobs/blobs.ts'
import { type SealedRow, sealedRow } from '../blobs/sealed-row.ts'
import type { EncryptionContext } from '../encryption.ts'
import { checkKey, checkName } from '../key.ts'
import type { Sealer } from '../sealer.ts'
import { type SqlRow, sessionKeyFromRow, toBytes } from '../sql-row.ts'

/** Returns the key of a run as statement parameters. @throws AlliumError `store.key` */
export function runRowKey({ tenant, run }: { tenant: string; run: string }): [tenant: string, run: string] {
  return [checkName('tenant', tenant), checkName('id of the run', run)]
}

/** Returns the task of a run as bytes of its row, with the blobs that it refers to. */
export async function sealTask(sealer: Sealer, key: SessionKey, run: string, task: unknown): Promise<SealedRow> {
  checkName('id of the run', run)
  return sealedRow(sealer, key, task, runContext(checkKey(key), key.agent, run, 'task'))
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
export async function openRun(blobs: Blobs, row: SqlRow): Promise<DurableRun> {
  try {
    return await runFromRow(blobs, row)
  } catch (error) {
    if (!isPermanent(error)) throw error
    return { ...runSummary(row), task: undefined, unreadable: error }
  }
}

/** Returns a run as listed, without its task. */
export function runSummary(row: SqlRow): Omit<DurableRun, 'task'> {
  return {
    run: String(row.run),
    key: sessionKeyFromRow({ ...row, agent: row.session_agent }),
    agent: String(row.agent),
    version: String(row.version),
    status: row.status as DurableStatus,
    queue: String(row.queue),
    priority: Number(row.priority),
    runAt: Math.floor(Number(row.run_at)),
    attempts: Number(row.attempts),
    ...(typeof row.shape === 'string' && { shape: row.shape }),
    ...(typeof row.stop === 'string' && { stop: row.stop }),
    ...(typeof row.code === 'string' && { code: row.code }),
    ...(typeof row.reason === 'string' && { reason: row.reason }),
  }
}

/** Identifies a part of a run for the encryption. */
export function runContext(
  { tenant, owner, sessionId }: SessionKey,
  sealedAs: string,
  run: string,
  part: string,
): EncryptionContext {
  return { tenant, row: JSON.stringify(['run', owner, sealedAs, sessionId, run, part]) }
}

function isPermanent(error: unknown): error is AlliumError {
  return isAlliumError(error, 'store.sealed') || isAlliumError(error, 'store.corrupt')
}
