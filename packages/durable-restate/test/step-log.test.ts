import { expect, it } from 'vitest'
import { type Entry, StepLog } from '../src/step-log.ts'

const never = new AbortController().signal
const emit = () => {}

/** Asks for entries as Restate does: one after the other, each acknowledged before the next. */
async function drive(log: StepLog): Promise<Entry[]> {
  const entries: Entry[] = []
  for (;;) {
    const entry = await log.next()
    entries.push(entry)
    if (entry.end !== undefined) return entries
    log.acknowledge(entry)
  }
}

/** The log of the next attempt, which has read these entries. */
function reopened(entries: readonly Entry[], work: ConstructorParameters<typeof StepLog>[0]): StepLog {
  const log = new StepLog(work, never)
  for (const entry of entries) log.acknowledge(entry)
  return log
}

it('steps stand in the order in which they ended, and are found by id in another order', async () => {
  const ends: Record<string, () => void> = {}
  const first = new StepLog(async (journal) => {
    const steps = ['a', 'b', 'c'].map((id) =>
      journal.step(id, () => new Promise<string>((resolve) => (ends[id] = () => resolve(id))), emit),
    )
    for (const id of ['c', 'a', 'b']) ends[id]?.()
    return (await Promise.all(steps)).join()
  }, never)
  const entries = await drive(first)
  expect(entries.flatMap(({ steps }) => steps.map(([id]) => id))).toEqual(['c', 'a', 'b'])

  const ran: string[] = []
  const again = reopened(entries.slice(0, -1), async (journal) => {
    const given = ['b', 'c', 'a'].map((id) => journal.step(id, () => ran.push(id), emit))
    return (await Promise.all(given)).join()
  })
  expect((await drive(again)).at(-1)?.end).toBe('b,c,a')
  expect(ran).toEqual([])
})

it('an attempt that is over begins no step, and is lost: another one goes on', async () => {
  const attempt = new AbortController()
  const ran: string[] = []
  const log = new StepLog(async (journal) => {
    attempt.abort()
    const told = await Promise.allSettled([journal.step('a', () => ran.push('a'), emit)])
    return `${journal.takenOver} ${told[0]?.status}`
  }, attempt.signal)
  expect([await log.next(), ran]).toEqual([{ steps: [], end: 'true rejected' }, []])
})

it('a step goes on only when its entry is acknowledged', async () => {
  let isGiven = false
  const log = new StepLog(async (journal) => {
    await journal.step('a', () => 1, emit)
    isGiven = true
    return ''
  }, never)
  const entry = await log.next()
  await new Promise(setImmediate)
  expect([entry.steps.map(([id]) => id), isGiven]).toEqual([['a'], false])
  log.acknowledge(entry)
  await log.next()
  expect(isGiven).toBe(true)
})

it('begins the work only for an entry that is not recorded', async () => {
  let isBegun = false
  const log = reopened([], async () => {
    isBegun = true
    return 'end'
  })
  await new Promise(setImmediate)
  expect(isBegun).toBe(false)
  expect(await log.next()).toEqual({ steps: [], end: 'end' })
})

it('what was recorded before a cancellation is given again before the run is aborted', async () => {
  const entries = await drive(
    new StepLog(async (journal) => {
      for (const id of ['a', 'b']) await journal.step(id, () => id, emit)
      return ''
    }, never),
  )
  const aborted: boolean[] = []
  const again = reopened(entries.slice(0, -1), async (journal, signal) => {
    for (const id of ['a', 'b']) {
      await journal.step(id, () => 'again', emit)
      aborted.push(signal.aborted)
    }
    return ''
  })
  again.cancel()
  await drive(again)
  expect(aborted).toEqual([false, true])
})

it('a step that was cancelled with its run is in no entry', async () => {
  const log = new StepLog(async (journal) => {
    const cancelled = () => Promise.reject(new DOMException('Stopped.', 'AbortError'))
    await Promise.resolve(journal.step('a', cancelled, emit)).catch(() => {})
    return 'end'
  }, never)
  expect(await drive(log)).toEqual([{ steps: [], end: 'end' }])
})

it('two steps that are large stand in entries of their own', async () => {
  const large = 'x'.repeat(5 * 1024 * 1024)
  const log = new StepLog(async (journal) => {
    await Promise.all(['a', 'b'].map((id) => journal.step(id, () => large, emit)))
    return ''
  }, never)
  expect((await drive(log)).map(({ steps }) => steps.length)).toEqual([1, 1, 0])
})

it('does not wait for what was recorded for the agent of a recorded call', async () => {
  const inner = 't:once:judge:1'
  const entries = await drive(
    new StepLog(async (journal) => {
      const ask = async () => {
        await journal.step('t/ask:0:start', () => 0, emit)
        await journal.step(inner, () => 'fine', emit)
      }
      await journal.step('t:tool:ask:1', ask, emit)
      return ''
    }, never),
  )
  const again = reopened(entries.slice(0, -1), async (journal) => {
    await journal.step('t:tool:ask:1', () => 'again', emit)
    return journal.step('t:once:audit:1', () => 'written', emit)
  })
  expect((await drive(again)).at(-1)?.end).toBe('written')
})
