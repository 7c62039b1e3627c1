import type { SessionKey } from '@allium/core'

/** The blobs of an owner, which has each of them once. */
export type BlobOwner = Pick<SessionKey, 'tenant' | 'owner'>

/** A write that is under way: it holds its blobs until the row that refers to them is committed. */
export interface BlobWrite {
  readonly key: SessionKey
  /** Of the lease under which it writes; undefined for a durable run that is added, which needs none. */
  readonly token: number | undefined
  readonly id: string
  /** In the order of {@link BlobTable.hold}, each once. */
  readonly digests: readonly string[]
}

/** Milliseconds after which a write is over that was not committed. */
export const blobWriteLife = 3_600_000

/** What a database does of blobs. Each operation is a short transaction of its own. */
export interface BlobTable {
  /**
   * Holds blobs for a write before their pieces are there.
   *
   * @returns how many pieces of each are there already; undefined where the session belongs to somebody else by now
   */
  hold(write: BlobWrite): Promise<number[] | undefined>
  /** Adds a piece unless it is there. Pieces come in their order. False where the write holds the blob no more. */
  add(write: BlobWrite, digest: string, piece: number, body: Uint8Array): Promise<boolean>
  /** Ends the holds of a write that failed. */
  drop(write: BlobWrite): Promise<void>
  piece(of: BlobOwner, digest: string, piece: number): Promise<Uint8Array | undefined>
  /**
   * Drops holds of writes that are over, and deletes a few pieces that nothing holds, the last ones of a blob first.
   *
   * @returns whether there may be more to do
   */
  collect(): Promise<boolean>
}
