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
  const part = (name: keyof LateParts, methods: string) => {
    const store: Record<string, unknown> = { sealed }
    for (const method of methods.split(' '))
      store[method] = async (...args: unknown[]) => ((await load())[name] as unknown as Methods)[method]?.(...args)
    return store as never
  }
  return {
    recordings: part('recordings', 'add get list sizes prune'),
    feedback: part('feedback', 'put get delete list ofRuns summary'),
    rollouts: part('rollouts', 'begin score look decide restart list'),
    passages: part('passages', 'key postings read count'),
  }
}

type Methods = Readonly<Record<string, (...args: unknown[]) => unknown>>
