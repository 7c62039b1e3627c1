import type { SessionKey } from '@allium/core'

/** The owner of a blob. An owner has one copy of each blob. */
export type BlobOwner = Pick<SessionKey, 'tenant' | 'owner'>

/** A write in progress. It holds its blobs until the row that refers to them is committed. */
export interface BlobWrite {
  readonly key: SessionKey
  /** The token of the writer's lease; undefined for the task of a durable run and for events, because these need no lease. */
  readonly token: number | undefined
  /** The run, if the blobs are in its events. */
  readonly turnId?: string | undefined
  readonly id: string
  /** The blobs, without duplicates. */
  readonly digests: readonly string[]
}

/** Milliseconds after which a write that was not committed counts as abandoned. */
export const blobWriteTtl = 3_600_000

/** The operations of a database on blobs. Each one is a short transaction. */
export interface BlobTable {
  /**
   * Holds the blobs of a write, before their pieces are added.
   *
   * @returns how many pieces of each blob exist, in the order of `digests`; undefined if the writer has lost its lease, or its data were erased
   */
  hold(write: BlobWrite): Promise<number[] | undefined>
  /** Adds a piece unless it exists. Pieces are added in order. Returns false if the write no longer holds the blob. */
  add(write: BlobWrite, digest: string, piece: number, body: Uint8Array): Promise<boolean>
  /** Releases the blobs of a write that failed. */
  rollback(write: BlobWrite): Promise<void>
  piece(owner: BlobOwner, digest: string, piece: number): Promise<Uint8Array | undefined>
  /**
   * Releases the blobs of abandoned writes, and deletes a few pieces that have no holder, starting with the last piece of a blob.
   *
   * @returns whether there may be more to do
   */
  collect(): Promise<boolean>
}
