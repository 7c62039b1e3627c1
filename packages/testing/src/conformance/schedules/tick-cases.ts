import { check, checkEqual } from '../check.ts'
import { ann, claim, current, now, put, runFor, type ScheduleBench, type ScheduleCases } from './schedule-bench.ts'

const idsOf = (due: readonly { schedule: { id: string } }[]) => due.map(({ schedule }) => schedule.id)
const isStored = async ({ runs }: ScheduleBench, run: string) => (await runs.get({ tenant: 'acme', run })) !== undefined

/** Cases: due schedules, and their runs. */
export const tickCases: ScheduleCases = {
  async 'returns a due schedule to one process, and to another after the claim'(bench) {
    const { other, lease: ms, wait } = bench
    await put(bench, 'due')
    await put(bench, 'later', { in: ms * 100 })
    const claims = Array.from({ length: 4 }, (_, i) => claim(bench, i % 2 === 0 ? bench : other, { ms: ms * 4 }))
    const [due, ...more] = (await Promise.all(claims)).flat()
    checkEqual([due?.schedule.id, more], ['due', []], 'One process receives it')
    checkEqual(
      [due?.request, (due?.schedule.nextAt ?? 0) <= (due?.now ?? 0)],
      [{ input: 'due' }, true],
      'with all fields',
    )
    await wait(ms * 5)
    checkEqual(idsOf(await claim(bench, other)), ['due'], 'Another process receives it later')
    checkEqual(await other.schedules.claimDue({ agents: ['x'], limit: 9, ms }), [], 'Another agent does not')
  },

  async 'adds the run of a tick once, and moves to the next tick with it'(bench) {
    const { other, lease: ms } = bench
    const schedule = await put(bench, 'report')
    const tick = schedule.nextAt ?? 0
    const advances = Array.from({ length: 6 }, (_, i) =>
      (i % 2 === 0 ? bench : other).schedules.advance(schedule, {
        ...{ nextAt: tick + ms * 100, tick, run: runFor(`r${i}`) },
      }),
    )
    const done = await Promise.all(advances)
    checkEqual(done.filter(Boolean).length, 1, 'One of many succeeds')
    const stored = await Promise.all(done.map((_, i) => isStored(bench, `r${i}`)))
    checkEqual(stored, done, 'and only its run is stored')
    const after = await current(other, schedule)
    checkEqual(
      [after.nextAt, after.lastAt, after.lastRun],
      [tick + ms * 100, tick, `r${done.indexOf(true)}`],
      'It moved',
    )
    checkEqual(idsOf(await claim(bench, other)), [], 'It is not due')
    checkEqual((await other.runs.get({ tenant: 'acme', run: after.lastRun ?? '' }))?.status, 'queued', 'The run waits')
  },

  async 'keeps a schedule whose last run is active until that run has ended'(bench) {
    const { runs, other, lease: ms, wait } = bench
    const schedule = await put(bench, 'report')
    const nextAt = await now(bench)
    await bench.schedules.advance(schedule, { nextAt, tick: nextAt, run: runFor('first') })
    checkEqual(idsOf(await claim(bench, other)), [], 'Its run is queued')
    const [{ lease } = {}] = await runs.claim({
      agents: [{ name: 'agent', version: '1' }],
      limit: 1,
      ms: ms * 100,
      alone: true,
    })
    checkEqual(idsOf(await claim(bench, other)), [], 'Its run is running')
    check(lease !== undefined, 'The run is claimed')
    await runs.giveUp(lease, 'first', { status: 'failed', code: 'run.failed', reason: 'test' })
    checkEqual(idsOf(await claim(bench, other)), ['report'], 'Its run has ended')
    await wait(ms * 2)
    await bench.schedules.advance(await current(bench, schedule), { run: runFor('asked') })
    const { lastRun } = await current(bench, schedule)
    checkEqual(
      [lastRun, idsOf(await claim(bench, other))],
      ['first', ['report']],
      'A run without a tick does not count',
    )
  },

  async 'changes nothing if the schedule has changed, was paused, or is gone'(bench) {
    const { schedules, other } = bench
    const schedule = await put(bench, 'report')
    checkEqual(await other.schedules.advance(schedule, { nextAt: null, paused: 'holiday' }), true, 'It is paused')
    checkEqual(await schedules.advance(schedule, { nextAt: 1, run: runFor('a') }), false, 'A change was missed')
    const paused = await current(bench, schedule)
    checkEqual([paused.paused, paused.nextAt], ['holiday', undefined], 'It stays paused')
    checkEqual(idsOf(await claim(bench, other)), [], 'A paused schedule is not due')
    checkEqual(await schedules.advance(paused, { nextAt: await now(bench), paused: null }), true, 'It is resumed')
    checkEqual((await current(bench, schedule)).paused, undefined, 'and active')
    checkEqual(idsOf(await claim(bench, other)), ['report'], 'and due again')
    const last = await current(bench, schedule)
    await schedules.delete(schedule)
    checkEqual(await schedules.advance(last, { run: runFor('b') }), false, 'A deleted schedule starts nothing')
    checkEqual([await isStored(bench, 'a'), await isStored(bench, 'b')], [false, false], 'No run was added')
  },

  async 'returns those that have waited longest, and after a late tick the others first'(bench) {
    const { schedules, wait } = bench
    const first = await put(bench, 'first')
    await wait(5)
    const second = await put(bench, 'second')
    checkEqual(idsOf(await claim(bench, bench, { limit: 1 })), ['first'], 'The older tick comes first')
    const missed = { nextAt: first.nextAt ?? 0, tick: first.nextAt ?? 0 }
    await schedules.advance(first, missed)
    await schedules.advance(second, { nextAt: second.nextAt ?? 0 })
    await wait(5)
    checkEqual(idsOf(await claim(bench, bench, { limit: 1 })), ['first'], 'A schedule that missed ticks is due at once')
    await wait(5)
    await put(bench, 'third')
    checkEqual(idsOf(await claim(bench, bench)).sort(), ['second', 'third'], 'and delays no other')
  },

  async 'starts no run of an erased owner, at any moment of the erasure'(bench) {
    const { schedules, sessions, other } = bench
    for (let round = 0; round < 8; round++) {
      const schedule = await put(bench, `s${round}`)
      const erasing = sessions.erase(ann)
      for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setTimeout(resolve))
      await schedules.advance(schedule, { nextAt: 1, run: runFor(`r${round}`) })
      await erasing
      checkEqual(await other.runs.get({ tenant: 'acme', run: `r${round}` }), undefined, 'No run is left')
      checkEqual((await other.schedules.list({ tenant: 'acme', limit: 9 })).items, [], 'and no schedule')
    }
  },
}
