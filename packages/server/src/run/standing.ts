import { type Entries, entriesBehind } from './entries.ts'
import type { Placed } from './entry.ts'

/** The events of a run without what was taken back before somebody came to read them. @param seq where the log stood then */
export async function standing(entries: Entries, seq: number): Promise<Entries> {
  const read: Placed[] = []
  let [at, begun] = [0, 0]
  while (at < seq) {
    const entry = await entries.next()
    if (entry === undefined) break
    at = entry.seq ?? at
    const { event } = entry
    const isOwn = !('path' in event) || event.path === undefined
    if (isOwn && event.type === 'model:reset') {
      read.length = begun
      continue
    }
    read.push(entry)
    if (isOwn && event.type === 'step:start') begun = read.length
  }
  return entriesBehind(read, undefined, entries)
}
