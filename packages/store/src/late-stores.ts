import type { RecordingStore } from './recording-store.ts'
import type { RolloutStore } from './rollout-store.ts'

/** Returns a store whose code is loaded when it is first used, because most agents record no turns. */
export function lateRecordings(sealed: boolean, load: () => Promise<RecordingStore>): RecordingStore {
  return { sealed, ...late(load, ['add', 'get', 'list', 'sizes', 'prune']) }
}

/** Returns a store whose code is loaded when it is first used, because most agents roll nothing out. */
export function lateRollouts(load: () => Promise<RolloutStore>): RolloutStore {
  return late(load, ['begin', 'score', 'look', 'decide', 'restart', 'list'])
}

function late<T extends object, K extends keyof T>(load: () => Promise<T>, names: readonly K[]): Pick<T, K> {
  const functionOf =
    (name: K) =>
    async (...args: unknown[]) =>
      ((await load()) as Record<K, (...args: unknown[]) => unknown>)[name](...args)
  return Object.fromEntries(names.map((name) => [name, functionOf(name)])) as Pick<T, K>
}
