import type { SessionKey, Writer } from '@allium/core'
import type { Feedback, FeedbackQuery, FeedbackStore, SessionStore } from '@allium/store'
import { checkResolves } from '../check.ts'
import { chat, nowOf } from '../store/bench.ts'

/** A store of feedback, and the sessions that it is erased with. */
export interface FeedbackStoreParts {
  readonly feedback: FeedbackStore
  readonly sessions: SessionStore
}

/** The test bench of a case. */
export interface FeedbackBench extends FeedbackStoreParts {
  /** The same data as another process sees it; the parts themselves if they cannot be opened again. */
  other: FeedbackStoreParts
  /** The duration of a lease, in milliseconds. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by name. */
export type FeedbackCases = Readonly<Record<string, (bench: FeedbackBench) => Promise<void>>>

/** Returns Ann's feedback on a turn in her session `chat`. */
export function feedbackOn(turnId: string, more: Partial<Feedback> = {}, key: Partial<SessionKey> = {}): Feedback {
  return { run: { key: { ...chat, ...key }, turnId }, by: chat.owner, score: 1, at: 1000, ...more }
}

/** Stores feedback, which must succeed. */
export async function put({ feedback }: FeedbackStoreParts, ...all: Feedback[]): Promise<void> {
  for (const one of all) await checkResolves(feedback.put(one), `Feedback on "${one.run.turnId}" should be stored`)
}

/** Lists all feedback of the agent, over pages. */
export async function listAll(
  { feedback }: FeedbackStoreParts,
  query: Partial<FeedbackQuery> = {},
  betweenPages: () => Promise<void> = async () => {},
): Promise<Feedback[]> {
  const all: Feedback[] = []
  for (let cursor: string | undefined, pages = 0; pages < 100; pages++) {
    const at = cursor === undefined ? {} : { cursor }
    const page = await feedback.list({ agent: chat.agent, limit: 10, ...query, ...at })
    all.push(...page.items)
    cursor = page.cursor
    if (cursor === undefined) break
    await betweenPages()
  }
  return all
}

export const idsOf = (items: readonly Pick<Feedback, 'run'>[]) => items.map(({ run }) => run.turnId)

/** A request of the owner that begins now. */
export async function writer({ sessions, other, lease, wait }: FeedbackBench): Promise<Writer> {
  const since = await nowOf({ store: sessions, other: other.sessions, lease, wait })
  return { tenant: chat.tenant, owner: chat.owner, since }
}
