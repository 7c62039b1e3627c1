import type { FeedbackStore } from './feedback-store.ts'
import type { RecordingStore } from './recording-store.ts'

/** Returns recordings whose code is loaded when they are first used, because most agents record no turns. */
export const lateRecordings = lateStore<RecordingStore>('add get list sizes prune')

/** The same for feedback. */
export const lateFeedback = lateStore<FeedbackStore>('put get delete list ofRuns summary')

function lateStore<S extends { readonly sealed: boolean }>(methods: string) {
  return (sealed: boolean, load: () => Promise<S>): S => {
    const entries = methods.split(' ').map((name) => {
      const method = async (...args: unknown[]) => ((await load()) as unknown as Methods)[name]?.(...args)
      return [name, method]
    })
    return { sealed, ...Object.fromEntries(entries) }
  }
}

type Methods = Readonly<Record<string, (...args: unknown[]) => unknown>>
