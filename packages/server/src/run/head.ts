import type { Clock } from '@allium/core'
import type { RunEvent } from '@allium/durable/log'
import { blockedProblem, type Problem, problemOf } from '../http/problem.ts'
import { type Entries, entriesBehind } from './entries.ts'
import type { Placed } from './entry.ts'

/** Whether a stream may begin, or is refused with a status. */
export type Head = { entries: Entries; problem?: undefined } | { problem: Problem }

/**
 * Waits for the first event that shows something, for `ms` milliseconds at most: a run that is refused until then has no
 * stream, but a status. What fails later comes as a `run:error`.
 */
export async function headOf(source: Entries, ms: number, clock: Clock): Promise<Head> {
  const read: Placed[] = []
  let disarm = () => {}
  const late = new Promise<'late'>((resolve) => (disarm = clock.after(ms, () => resolve('late'), { idle: true })))
  try {
    for (;;) {
      const next = source.next()
      const came = await Promise.race([next, late])
      if (came === 'late') {
        next.catch(() => {})
        return { entries: entriesBehind(read, next, source) }
      }
      if (came === undefined) break
      const problem = refusal(came.event)
      if (problem !== undefined) return { problem }
      read.push(came)
      if (shows(came.event)) break
    }
    return { entries: entriesBehind(read, undefined, source) }
  } catch (error) {
    return { problem: problemOf(error, clock.now()) }
  } finally {
    disarm()
  }
}

function refusal(event: RunEvent): Problem | undefined {
  if (event.type === 'turn:end') return blockedProblem(event as Record<string, unknown>)
  if (event.type !== 'run:error') return undefined
  const { type: _, ...problem } = event as Problem & { type: string }
  return problem
}

/** What layers tell of themselves shows nothing, and neither does the end of a run that failed: the error follows. */
function shows({ type, ...event }: RunEvent): boolean {
  if (type === 'turn:end') return (event as { status?: unknown }).status !== 'failed'
  return showing.has(type)
}

const showing: ReadonlySet<string> = new Set([
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
