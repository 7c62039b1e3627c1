import type { Message, SessionKey, StoredTurn } from '@allium/core'
import { type Checkpoint, checkTurn, continuedTurn, type ReadFiles } from '@allium/store'
import type { BlobSources } from './blobs/blob-extractor.ts'
import { type Blobs, type FilesOf, filesOfMessages } from './blobs/blobs.ts'
import { sealedRow } from './blobs/sealed-row.ts'
import { corrupt, type Sealer } from './sealer.ts'
import { type TurnRow, turnContext, wholeTurnFromRow } from './turn-row.ts'

/** What a checkpoint adds to the one before, as a row. */
export interface TurnPart {
  /** The number of messages that the run has with it. */
  count: number
  body: Uint8Array
  /** The blobs that the row refers to. */
  blobSources: BlobSources
}

/** @throws AlliumError `state.invalid` when part of it cannot be serialized */
export async function turnToPart(key: SessionKey, turn: Checkpoint, sealer: Sealer): Promise<TurnPart> {
  const count = (turn.after?.messages ?? 0) + turn.messages.length
  const context = turnContext(key, { turnId: turn.turnId, sealedAs: key.agent }, 'part')
  const { body, cuts: blobSources } = await sealedRow(sealer, key, checkTurn(turn), context)
  return { count, body, blobSources }
}

/** Opens the run of a row. */
export async function turnFromRow(
  key: SessionKey,
  row: TurnRow,
  blobs: Blobs,
  files: ReadFiles = 'atOnce',
): Promise<StoredTurn> {
  const filesIn = files === 'onDemand' ? filesOfMessages : undefined
  const filesOfPart: FilesOf | undefined = filesIn && ((part) => filesIn((part as { messages: Message[] }).messages))
  const context = turnContext(key, row, 'part')
  let turn = await wholeTurnFromRow(key, row, blobs, filesIn)
  for (const body of row.parts ?? []) {
    const next = continuedTurn(turn, (await blobs.open(key, body, context, filesOfPart)) as Checkpoint)
    if (next === undefined) throw corrupt(context, 'It does not continue the part before.')
    turn = next
  }
  return turn
}
