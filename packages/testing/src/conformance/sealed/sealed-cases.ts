import type { EventLog, RunSignal, RunStore, ScheduleStore, SessionStore } from '@allium/store'
import { check, checkEqual, checkRejects } from '../check.ts'
import { chat, run, steer } from '../event-log/bench.ts'
import { agents, runOf } from '../runs/run-bench.ts'
import { limits, scheduleOf } from '../schedules/schedule-bench.ts'
import { add, type StoreBench, turnOf } from '../store/bench.ts'
import type { FailingSeals } from './failing-seals.ts'

/** A store that encrypts; missing parts are not tested. */
export interface SealedParts {
  readonly sessions?: SessionStore | undefined
  readonly events?: EventLog | undefined
  readonly runs?: RunStore | undefined
  readonly schedules?: ScheduleStore | undefined
}

/** The test bench of a case. */
interface SealedBench extends Pick<StoreBench, 'lease' | 'wait'> {
  readonly parts: SealedParts
  readonly seals: FailingSeals
}

interface SealedCase {
  readonly needs: keyof SealedParts
  run(bench: SealedBench): Promise<void>
}

/** Cases: a transient error is never treated as permanent damage. */
export const sealedCaseList: Readonly<Record<string, SealedCase>> = {
  'tells a row that cannot be opened now from one that can never be opened': {
    needs: 'sessions',
    async run(bench) {
      const { seals } = bench
      const { sessions } = await recorded(bench, ['a'])
      seals.failure = 'down'
      await checkRejects(sessions.load(chat), 'store.unavailable', 'load() while the key service is down')
      seals.failure = 'gone'
      await checkRejects(sessions.load(chat), 'store.sealed', 'load() after the key was deleted')
      seals.failure = undefined
      checkEqual((await sessions.load(chat))?.version, 1, 'load() once the key is back')
    },
  },

  'gives a record that could not be opened again, and to every consumer': {
    needs: 'sessions',
    async run(bench) {
      const { seals, lease: ms, wait } = bench
      const { outbox } = (await recorded(bench, ['a', 'b'])).sessions
      seals.failure = 'down'
      await checkRejects(outbox.claim('bills', 10, ms), 'store.unavailable', 'take() while the key service is down')
      seals.failure = undefined
      checkEqual(idsIn(await outbox.claim('hooks', 10, ms)), ['a', 'b'], 'Another consumer gets all records')
      await wait(ms * 2)
      checkEqual(idsIn(await outbox.claim('bills', 10, ms)), ['a', 'b'], 'No record was marked as done')
    },
  },

  'delivers the records after one that cannot be decrypted, and that one once its key is back': {
    needs: 'sessions',
    async run(bench) {
      const { seals, lease: ms, wait } = bench
      const { outbox } = (await recorded(bench, ['a', 'b'])).sessions
      for (const failure of ['down', 'gone'] as const) {
        Object.assign(seals, { failure, rows: (row: string) => row.includes('"a"') })
        const consumer = `bills ${failure}`
        const taken = [await outbox.claim(consumer, 1, ms * 2).catch(() => []), await outbox.claim(consumer, 1, ms * 2)]
        checkEqual(idsIn(taken.flat()), ['b'], `The next record is delivered (the key is ${failure})`)
        await outbox.done(consumer, ['b'])
        seals.failure = undefined
        await wait(ms * 8)
        checkEqual(
          idsIn(await outbox.claim(consumer, 10, ms)),
          ['a'],
          `The record is delivered again (the key was ${failure})`,
        )
      }
    },
  },

  'keeps a steer that could not be opened for the process that ends the run': {
    needs: 'events',
    async run({ parts, seals }) {
      const events = needed(parts, 'events')
      await events.append(run, 1, ['one'])
      await events.signal(run, steer('a'))
      seals.failure = 'down'
      await checkRejects(
        events.append(run, 1, [], { end: true }),
        'store.unavailable',
        'append() with an end while a steer cannot be opened',
      )
      seals.failure = undefined
      checkEqual(
        await events.append(run, 1, [], { end: true }),
        { undelivered: [steer('a')] },
        'The steer is delivered later',
      )
      checkEqual((await events.append(run, 1, [], { end: true })).seq, 1, 'Then the run ends')
    },
  },

  'tells a listener a steer that could not be opened at first, and no other steer waits for it': {
    needs: 'events',
    async run({ parts, seals, wait, lease: ms }) {
      const events = needed(parts, 'events')
      await events.append(run, 1, [])
      await events.signal(run, steer('a'))
      Object.assign(seals, { failure: 'down', rows: (row: string) => row.includes('"a"') })
      const signals: RunSignal[] = []
      const off = await events.onSignal(run, (signal) => void signals.push(signal))
      await events.signal(run, steer('b'))
      await soon(wait, ms, () => signals.length === 1)
      checkEqual(signals, [steer('b')], 'The next steer is delivered')
      seals.failure = undefined
      await soon(wait, ms, () => signals.length === 2)
      off()
      checkEqual(signals, [steer('b'), steer('a')], 'The first steer is delivered once it can be decrypted')
    },
  },

  'gives back a run that could not be opened, and counts no attempt': {
    needs: 'runs',
    async run({ parts, seals, lease: ms }) {
      const runs = needed(parts, 'runs')
      await runs.add(runOf('one', chat))
      const claim = () => runs.claim({ agents, limit: 10, ms: ms * 100, alone: true })
      seals.failure = 'down'
      for (let i = 0; i < 5; i++)
        await checkRejects(claim(), 'store.unavailable', 'claim() while the key service is down')
      seals.failure = undefined
      const [claimed] = await claim()
      checkEqual([claimed?.run.run, claimed?.run.attempts], ['one', 1], 'The run is claimed for the first time')
    },
  },

  'claims later runs if earlier ones cannot be opened, and reports those that never can': {
    needs: 'runs',
    async run({ parts, seals, wait, lease: ms }) {
      const runs = needed(parts, 'runs')
      for (const id of ['x1', 'x2', 'x3', 'b']) await runs.add(runOf(id, { ...chat, sessionId: id }))
      const claim = async () => {
        const claimed = await runs.claim({ agents, limit: 2, ms, alone: false })
        return claimed.map(({ run: row }) => [row.run, row.task === undefined, row.unreadable?.code])
      }
      Object.assign(seals, { failure: 'down', rows: (row: string) => row.includes('"x') })
      checkEqual(await claim(), [['b', false, undefined]], 'A later run is claimed')
      seals.failure = 'gone'
      const lost = ['x1', 'x2'].map((id) => [id, true, 'store.sealed'])
      checkEqual(await claim(), lost, 'Runs that can never be decrypted are claimed with the error')
      const found = await runs.get({ tenant: 'acme', run: 'x1' })
      checkEqual(
        [found?.task, found?.unreadable?.code],
        [undefined, 'store.sealed'],
        'get() returns them without the task',
      )
      await wait(ms * 2)
      seals.failure = undefined
      checkEqual((await claim()).length, 2, 'Nothing was lost')
    },
  },

  'returns the schedules that it can open, and reports those that it never can': {
    needs: 'schedules',
    async run({ parts, seals, wait, lease: ms }) {
      const schedules = needed(parts, 'schedules')
      for (const id of ['a', 'b']) await schedules.put(scheduleOf(id, 0), limits)
      const claim = async () => {
        const due = await schedules.claimDue({ agents: limits.agents, limit: 10, ms })
        return due.map(({ schedule, unreadable }) => `${schedule.id} ${unreadable?.code}`).toSorted()
      }
      Object.assign(seals, { failure: 'down', rows: (row: string) => row.includes('"a"') })
      checkEqual(await claim(), ['b undefined'], 'A run that cannot be decrypted now does not delay others')
      await wait(ms * 2)
      seals.failure = 'gone'
      checkEqual(await claim(), ['a store.sealed', 'b undefined'], 'The error says that it can never be decrypted')
      await wait(ms * 2)
      seals.failure = undefined
      checkEqual(await claim(), ['a undefined', 'b undefined'], 'Nothing was lost')
    },
  },
}

/** Creates a session with these records. */
async function recorded({ parts, lease, wait }: SealedBench, ids: readonly string[]) {
  const sessions = needed(parts, 'sessions')
  const records = ids.map((id) => ({ id, topic: 'paid', data: id, at: 1 }))
  await add({ store: sessions, other: sessions, lease, wait }, chat, { ...turnOf('hello'), records })
  return { sessions }
}

function needed<K extends keyof SealedParts>(parts: SealedParts, part: K): NonNullable<SealedParts[K]> {
  const found = parts[part]
  check(found !== undefined && found !== null, `The store has the part "${part}"`)
  return found
}

function idsIn(records: readonly { id: string }[]): string[] {
  return records.map(({ id }) => id)
}

async function soon(wait: (ms: number) => Promise<void>, ms: number, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 100 && !holds(); i++) await wait(ms / 10)
}
