import type { EncryptionContext } from '../encryption.ts'
import type { Sealer } from '../sealer.ts'
import { BlobExtractor, type BlobSources, type ExtractedText, nameBlobs, toRowText } from './blob-extractor.ts'
import type { BlobOwner } from './blob-table.ts'

/** A value as bytes of its row, and the blobs that the row refers to. */
export interface SealedRow {
  readonly body: Uint8Array
  readonly cuts: BlobSources
}

const none: BlobSources = new Map()

/**
 * Serializes a value before it awaits anything. Synchronous if the value has no blobs and the store does not encrypt.
 *
 * @throws AlliumError `state.invalid` if the value cannot be serialized
 */
export function sealedRow(
  sealer: Sealer,
  of: BlobOwner,
  value: unknown,
  place: EncryptionContext,
): SealedRow | Promise<SealedRow> {
  const cutter = new BlobExtractor(sealer.sourceCache)
  const text = cutter.serialize(value)
  return text.sources.length > 0 ? cutRow(sealer, of, { cutter, text, place }) : plainRow(sealer, text.text, place)
}

/** Like `sealedRow`, for a text without blobs. */
export function plainRow(sealer: Sealer, text: string, place: EncryptionContext): SealedRow | Promise<SealedRow> {
  const body = sealer.sealText(text, place)
  return body instanceof Promise ? body.then((sealed) => ({ body: sealed, cuts: none })) : { body, cuts: none }
}

async function cutRow(
  sealer: Sealer,
  of: BlobOwner,
  { cutter, text, place }: { cutter: BlobExtractor; text: ExtractedText; place: EncryptionContext },
): Promise<SealedRow> {
  const { sources: cuts, toDigest: digestOf } = await nameBlobs(cutter, (sha256) => sealer.blobName(sha256, of))
  return { body: await sealer.sealText(toRowText(text, digestOf), place), cuts }
}
