import type { SealedPlace } from '../encrypt.ts'
import type { Sealer } from '../sealer.ts'
import type { BlobOwner } from './blob-table.ts'
import { type Cuts, type CutText, Cutter, namedCuts, rowText } from './cut.ts'

/** A value as bytes of its row, and the blobs that the row refers to. */
export interface SealedRow {
  readonly body: Uint8Array
  readonly cuts: Cuts
}

const none: Cuts = new Map()

/**
 * Serializes a value before it waits for anything. Synchronous if the value has no blobs and the store does not encrypt.
 *
 * @throws AlliumError `state.invalid` if the value cannot be serialized
 */
export function sealedRow(
  sealer: Sealer,
  of: BlobOwner,
  value: unknown,
  place: SealedPlace,
): SealedRow | Promise<SealedRow> {
  const cutter = new Cutter(sealer.cuts)
  const text = cutter.text(value)
  return text.cuts.length > 0 ? cutRow(sealer, of, { cutter, text, place }) : plainRow(sealer, text.text, place)
}

/** The same of a text without blobs. */
export function plainRow(sealer: Sealer, text: string, place: SealedPlace): SealedRow | Promise<SealedRow> {
  const body = sealer.sealText(text, place)
  return body instanceof Promise ? body.then((body) => ({ body, cuts: none })) : { body, cuts: none }
}

async function cutRow(
  sealer: Sealer,
  of: BlobOwner,
  { cutter, text, place }: { cutter: Cutter; text: CutText; place: SealedPlace },
): Promise<SealedRow> {
  const { cuts, digestOf } = await namedCuts(cutter, (sha256) => sealer.nameOf(sha256, of))
  return { body: await sealer.sealText(rowText(text, digestOf), place), cuts }
}
