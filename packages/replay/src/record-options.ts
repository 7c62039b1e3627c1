import type { RecordingStore } from '@allium/store'

/** A run that may be recorded. */
export interface RunToRecord {
  readonly agent: string
  readonly sessionId: string
  readonly principal: unknown
  readonly context: unknown
}

/** The part of `RecordingStore` that a recorder uses. */
export type RecordingSink = Pick<RecordingStore, 'add' | 'sealed'>

export interface RecordOptions {
  /** Where recordings are stored. @default the `recordings` of the agent's store */
  store?: RecordingSink | undefined
  /** The share of turns to record, from 0 to 1. The turn's id decides, so a restarted turn is sampled in the same way. @default 1 */
  sample?: number | undefined
  /** The largest recording, in bytes. Of a larger one only the result is kept. @default 256_000 */
  maxBytes?: number | undefined
  /** How long recordings are kept, in milliseconds. @default 30 days */
  expiresIn?: number | undefined
  /** Replaces each text of a recording before it is stored. @default texts as they are */
  scrub?: ((text: string) => string) | undefined
  /** Returns whether a run must not be recorded. A run that makes it throw is not recorded. @default every run is recorded */
  skip?: ((run: RunToRecord) => boolean) | undefined
  /** The layer's name. @default 'replay:record' */
  as?: string | undefined
}
