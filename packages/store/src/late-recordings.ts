import type { RecordingStore } from './recording-store.ts'

/** Returns a store whose code is loaded when it is first used, because most agents record no turns. */
export function lateRecordings(sealed: boolean, load: () => Promise<RecordingStore>): RecordingStore {
  return {
    sealed,
    add: async (recording, by) => (await load()).add(recording, by),
    get: async (run) => (await load()).get(run),
    list: async (query) => (await load()).list(query),
    sizes: async () => (await load()).sizes(),
    prune: async () => (await load()).prune(),
  }
}
