import type { FeedbackStore } from './feedback-store.ts'
import type { RecordingStore } from './recording-store.ts'
import type { RolloutStore } from './rollout-store.ts'

/** Returns recordings whose code is loaded when they are first used, because most agents record no turns. */
export const lateRecordings = lateStore<RecordingStore>('add get list sizes prune')

/** The same for feedback. */
export const lateFeedback = lateStore<FeedbackStore>('put get delete list ofRuns summary')

/** The same for rollouts, which hold nothing to seal. */
export const lateRollouts = lateStore<RolloutStore>('begin score look decide restart list')

function lateStore<S extends object>(methods: string) {
  return (sealed: S extends { readonly sealed: boolean } ? boolean : undefined, load: () => Promise<S>): S => {
    const entries = methods.split(' ').map((name) => {
      const method = async (...args: unknown[]) => ((await load()) as unknown as Methods)[name]?.(...args)
      return [name, method]
    })
    return { sealed, ...Object.fromEntries(entries) } as unknown as S
  }
}

type Methods = Readonly<Record<string, (...args: unknown[]) => unknown>>
