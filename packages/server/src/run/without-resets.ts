import { concatEntries, type EntryReader, type RunEntry } from './entry-reader.ts'

/** Returns the events of a run without output that was reset before the reader came. @param seq the position of the log at that time */
export async function withoutResets(entries: EntryReader, seq: number): Promise<EntryReader> {
  const buffered: RunEntry[] = []
  let [lastSeq, stepStart] = [0, 0]
  while (lastSeq < seq) {
    const entry = await entries.next()
    if (entry === undefined) break
    lastSeq = entry.seq ?? lastSeq
    const { event } = entry
    const isTopLevel = !('path' in event) || event.path === undefined
    if (isTopLevel && event.type === 'model:reset') {
      buffered.length = stepStart
      continue
    }
    buffered.push(entry)
    if (isTopLevel && event.type === 'step:start') stepStart = buffered.length
  }
  return concatEntries(buffered, undefined, entries)
}
