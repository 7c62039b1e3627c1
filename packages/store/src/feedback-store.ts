import type { Writer } from '@allium/core'
import type { RunKey } from './event-log.ts'
import type { Page } from './session-store.ts'

/** The feedback of one person on one run. */
export interface Feedback {
  readonly run: RunKey
  /** The person who gave it: the owner of the session, or another user of the tenant. */
  readonly by: string
  /** From 0 to 1. Thumbs up are 1, thumbs down are 0. */
  readonly score: number
  /** Up to 4,000 UTF-8 bytes. A store with `encrypt` encrypts it. */
  readonly comment?: string | undefined
  /** Up to 16 different ones, each of 1 to 64 characters. A store with `encrypt` encrypts them. @default none */
  readonly tags?: readonly string[] | undefined
  /** When it was given or last changed, in milliseconds since the epoch. */
  readonly at: number
}

/** The key of a feedback: the run, and the person. */
export type FeedbackKey = Pick<Feedback, 'run' | 'by'>

/** Selects feedback on the runs of one agent. */
export interface FeedbackQuery {
  /** The `agent` of the session keys. */
  readonly agent: string
  /** @default all tenants, for an operator. Always pass it on behalf of a user */
  readonly tenant?: string | undefined
  /** The owner of the sessions. @default all */
  readonly owner?: string | undefined
  /** @default all sessions */
  readonly sessionId?: string | undefined
  /** The person who gave it. @default everyone */
  readonly by?: string | undefined
  /** Given or changed at or after this time. @default the first */
  readonly since?: number | undefined
  /** Given or changed before this time. @default the last */
  readonly until?: number | undefined
  /** The lowest score. @default 0 */
  readonly minScore?: number | undefined
  /** The highest score. @default 1 */
  readonly maxScore?: number | undefined
  /** By time: `desc` begins with the newest. @default 'desc' */
  readonly order?: 'asc' | 'desc' | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

/** The feedback on the runs of an agent in a tenant. */
export interface FeedbackSummary {
  readonly tenant: string
  /** The `agent` of the session keys. */
  readonly agent: string
  readonly count: number
  /** How many scores are above 0.5. */
  readonly up: number
  /** How many scores are below 0.5. */
  readonly down: number
  /** The mean score. */
  readonly mean: number
  /** When the newest was given or changed, in milliseconds since the epoch. */
  readonly latestAt: number
}

/**
 * Stores the feedback of people on runs, once for each person and run. It is erased with its session, with the session's owner, with the
 * person who gave it, and with their tenant. The feedback on a session moves with it when its agent is renamed. Implementations pass
 * `feedbackStoreConformance` of `@allium/testing/feedback`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.sealed`, `store.full`, `store.readonly`, `store.key`
 */
export interface FeedbackStore {
  /** Whether comments and tags are encrypted. */
  readonly sealed: boolean
  /**
   * Stores a feedback in place of an earlier one by the same person on the same run.
   *
   * @param writer the owner of the session, with the time since which its existence is known
   * @throws AlliumError `options.invalid` for a score, a comment or tags out of bounds; `store.fenced` if the session, its owner, the
   * person or the tenant was erased since then
   */
  put(feedback: Feedback, writer?: Writer): Promise<void>
  get(of: FeedbackKey): Promise<Feedback | undefined>
  /** Removes a feedback. Returns whether there was one. */
  delete(of: FeedbackKey): Promise<boolean>
  /** Lists feedback. Entries of the same time keep their order on all pages. */
  list(query: FeedbackQuery): Promise<Page<Feedback>>
  /** Returns the feedback of all people on up to 1,000 runs, by run as given, the oldest first. @throws AlliumError `options.invalid` for more runs */
  ofRuns(runs: readonly RunKey[]): Promise<Feedback[]>
  /** Counts feedback by tenant and agent, in the order of their names. */
  summary(of?: {
    readonly tenant?: string | undefined
    readonly since?: number | undefined
  }): Promise<FeedbackSummary[]>
}

/** Feedback was stored or removed. */
export interface FeedbackEvent extends FeedbackKey {
  readonly type: 'feedback:stored' | 'feedback:removed'
  /** The feedback that was stored; undefined if it was removed. */
  readonly feedback?: Feedback | undefined
  /** The feedback that this person gave before on the same run. */
  readonly previous?: Feedback | undefined
}
