import type { Clock } from '@allium/core'
import { blockedProblem, type Problem, problemOf } from '../http/problem.ts'
import type { Placed, RunEvent } from './entry.ts'

/** Whether a stream may begin, or is refused with a status. */
export type Head = { entries: AsyncGenerator<Placed, undefined>; problem?: undefined } | { problem: Problem }

/**
 * Waits for the first event that shows something, for `ms` milliseconds at most: a run that is refused until then has no
 * stream, but a status. What fails later comes as a `run:error`.
 */
export async function headOf(source: AsyncGenerator<Placed, undefined>, ms: number, clock: Clock): Promise<Head> {
  const read: Placed[] = []
  let disarm = () => {}
  const late = new Promise<'late'>((resolve) => (disarm = clock.after(ms, () => resolve('late'), { idle: true })))
  let next = source.next()
  try {
    for (;;) {
      const came = await Promise.race([next, late])
      if (came === 'late' || came.done === true) break
      const problem = refusal(came.value.event)
      if (problem !== undefined) return { problem }
      read.push(came.value)
      next = source.next()
      if (shows(came.value.event)) break
    }
  } catch (error) {
    return { problem: problemOf(error, clock.now()) }
  } finally {
    disarm()
  }
  return { entries: rest(read, next, source, clock) }
}

async function* rest(
  read: readonly Placed[],
  next: Promise<IteratorResult<Placed, undefined>>,
  source: AsyncGenerator<Placed, undefined>,
  clock: Clock,
): AsyncGenerator<Placed, undefined> {
  next.catch(() => {})
  yield* read
  try {
    for (let came = await next; came.done !== true; came = await source.next()) yield came.value
  } catch (error) {
    yield { event: { type: 'run:error', ...problemOf(error, clock.now()) } }
  }
  return undefined
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
