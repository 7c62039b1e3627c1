import type { SessionKey } from '@allium/core'
import type { RecordedStep } from '@allium/store'
import type { Blobs } from '../blobs/blobs.ts'
import { type SealedRow, sealedRow } from '../blobs/sealed-row.ts'
import type { Sealer } from '../sealer.ts'
import { type SqlRow, toBytes } from '../sql-row.ts'
import { runContext } from './run-row.ts'

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
