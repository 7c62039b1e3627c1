import type { FeedbackStore } from './feedback-store.ts'
import type { PassageStore } from './passage-store.ts'
import type { RecordingStore } from './recording-store.ts'
import type { RolloutStore } from './rollout-store.ts'

/** The parts whose code is loaded when they are first used, because most agents never use them. */
export interface LateParts {
  /** Recorded turns, for replays. */
  readonly recordings: RecordingStore
  /** The feedback of people on runs. */
  readonly feedback: FeedbackStore
  /** Counts of rollouts, for a canary with a verdict. */
  readonly rollouts: RolloutStore
  /** Finds messages of conversations by their words. */
  readonly passages: PassageStore
}

/**
 * Returns the parts of a store that `load` loads with the first call of one of their methods.
 *
 * @param sealed whether the store encrypts
 */
export function lateParts(sealed: boolean, load: () => Promise<LateParts>): LateParts {
  const parts: Record<string, Record<string, unknown>> = {}
  for (const [name, ...names] of methods) {
    const part: Record<string, unknown> = (parts[name] = { sealed })
    for (const method of names)
      part[method] = async (...args: unknown[]) => ((await load()) as unknown as Loaded)[name]?.[method]?.(...args)
  }
  return parts as never
}

/** The name of each part, and its methods. */
const methods = [
  'recordings add get list sizes prune',
  'feedback put get delete list ofRuns summary',
  'rollouts begin score look decide restart list',
  'passages key postings read count off setOff rewrite vectors putVectors',
].map((line) => line.split(' ') as [string, ...string[]])

type Loaded = Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => unknown>>>>
