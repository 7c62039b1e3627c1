import type { Clock } from '@allium/core'
import type { RunEvent } from '@allium/store/event-log'
import { blockedProblem, type Problem, problemOf } from '../http/problem.ts'
import { concatEntries, type EntryReader, type RunEntry } from './entry-reader.ts'

/** The entries of a stream, or the problem with which it is rejected. */
export type StreamStart = { entries: EntryReader; problem?: undefined } | { entries?: undefined; problem: Problem }

/**
 * Waits for the first visible event, at most `ms` milliseconds. A run that is rejected in that time gets an HTTP status instead of a
 * stream. A later failure is sent as a `run:error`.
 */
export async function firstEvent(source: EntryReader, ms: number, clock: Clock): Promise<StreamStart> {
  const buffered: RunEntry[] = []
  let disarm = () => {}
  const timeout = new Promise<'late'>((resolve) => (disarm = clock.after(ms, () => resolve('late'), { idle: true })))
  try {
    for (;;) {
      let entry: RunEntry | 'late' | undefined = source.take()
      if (entry === undefined) {
        const next = source.next()
        entry = await Promise.race([next, timeout])
        if (entry === 'late') {
          next.catch(() => {})
          return { entries: concatEntries(buffered, next, source) }
        }
      }
      if (entry === undefined) break
      const problem = problemIn(entry.event)
      if (problem !== undefined) return { problem }
      buffered.push(entry)
      if (isVisible(entry.event)) break
    }
    return { entries: concatEntries(buffered, undefined, source) }
  } catch (error) {
    return { problem: problemOf(error, clock.now()) }
  } finally {
    disarm()
  }
}

function problemIn(event: RunEvent): Problem | undefined {
  if (event.type === 'turn:end') return blockedProblem(event as Record<string, unknown>)
  if (event.type !== 'run:error') return undefined
  const { type: _, ...problem } = event as Problem & { type: string }
  return problem
}

/** Events of layers are not visible. The end of a failed run is not either, because the error follows. */
function isVisible(event: RunEvent): boolean {
  if (event.type === 'turn:end') return (event as { status?: unknown }).status !== 'failed'
  return visibleTypes.has(event.type)
}

const visibleTypes: ReadonlySet<string> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-result',
  'file',
  'source',
  'custom',
  'tool:start',
  'model:chunk',
])
