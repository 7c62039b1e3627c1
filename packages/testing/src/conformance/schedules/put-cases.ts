import { check, checkEqual, checkRejects } from '../check.ts'
import { allPages } from '../store/pages.ts'
import { ann, current, limits, now, put, type ScheduleCases, scheduleOf } from './schedule-bench.ts'

/** Cases: storing, listing and deleting schedules. */
export const putCases: ScheduleCases = {
  async 'stores a schedule with its request, for its owner only'(bench) {
    const request = { input: 'Hé 👩‍👩‍👧', principal: { userId: 'ann' }, bytes: new Uint8Array([1, 2]) }
    const stored = await put(bench, 'report', { sessionId: 'chat', missed: 'all', request, in: 1000 })
    const found = await bench.other.schedules.get({ ...ann, id: 'report' })
    checkEqual(found, { schedule: stored, request }, 'get() returns what put() returned, and the request')
    const { cron, tz, missed, sessionId, paused, lastAt, lastRun } = stored
    checkEqual(
      [cron, tz, missed, sessionId, paused, lastAt, lastRun],
      ['0 8 * * *', 'Europe/Berlin', 'all', 'chat', undefined, undefined, undefined],
      'All fields are stored',
    )
    for (const key of [
      { tenant: 'acme', owner: 'bob' },
      { tenant: 'globex', owner: 'ann' },
    ])
      checkEqual(await bench.schedules.get({ ...key, id: 'report' }), undefined, 'Another owner has no such schedule')
  },

  async 'keeps the next tick when a schedule with the same pattern is put again, and moves it otherwise'(bench) {
    const { nextAt = 0, revision } = await put(bench, 'report', { in: 1000 })
    const again = await put(bench, 'report', { in: 9000, request: { input: 'new' } })
    checkEqual([again.nextAt, again.revision > revision], [nextAt, true], 'The next tick does not change')
    checkEqual((await bench.schedules.get(again))?.request, { input: 'new' }, 'The request is replaced')
    const changed = await put(bench, 'report', { in: 9000, cron: '0 9 * * *' })
    check((changed.nextAt ?? 0) > nextAt, 'Another pattern has another next tick')
    await bench.schedules.advance(changed, { nextAt: null, paused: 'holiday' })
    const paused = await put(bench, 'report', { in: 1000 })
    checkEqual([paused.paused, paused.nextAt], ['holiday', undefined], 'A paused schedule stays paused')
  },

  async 'rejects more schedules than an owner may have, also when they are put at once'(bench) {
    const ids = Array.from({ length: 8 }, (_, i) => `s${i}`)
    const nextAt = await now(bench)
    const both = ids.map((id, i) => (i % 2 === 0 ? bench : bench.other).schedules.put(scheduleOf(id, nextAt), limits))
    const ends = await Promise.allSettled(both)
    checkEqual(ends.filter(({ status }) => status === 'fulfilled').length, 5, 'The limit is five')
    await checkRejects(put(bench, 'one more'), 'run.options', 'put() of the sixth')
    const stored = await bench.schedules.list({ tenant: 'acme', limit: 10 })
    await put(bench, stored.items[0]?.id ?? '')
    const bob = scheduleOf('his', nextAt, { owner: 'bob' })
    await bench.schedules.put(bob, limits)
    check((await bench.schedules.get(bob)) !== undefined, 'The limit of another owner is separate')
  },

  async 'does not replace the schedule of another agent, but that of a former name'(bench) {
    await put(bench, 'report', { agent: 'agent' })
    const foreign = scheduleOf('report', 1, { agent: 'other' })
    const byOther = bench.schedules.put(foreign, { agents: ['other'], perOwner: 5 })
    await checkRejects(byOther, 'run.options', 'put() by another agent')
    const renamed = await bench.schedules.put(foreign, { agents: ['other', 'agent'], perOwner: 5 })
    checkEqual(renamed.agent, 'other', 'The new name is stored')
  },

  async 'lists the schedules of a tenant by owner and id, over pages of any size'(bench) {
    for (const id of ['b', 'a', 'c']) await put(bench, id)
    await put(bench, 'a', { owner: 'bob' })
    await put(bench, 'theirs', { tenant: 'globex' })
    for (const limit of [1, 2, 4, 9]) {
      const all = await allPages(limit, (of) => bench.other.schedules.list({ tenant: 'acme', ...of }))
      checkEqual(
        all.map(({ owner, id }) => `${owner} ${id}`),
        ['ann a', 'ann b', 'ann c', 'bob a'],
        `Pages of ${limit} return each schedule once`,
      )
    }
    const ofBob = await bench.schedules.list({ tenant: 'acme', owner: 'bob', limit: 9 })
    checkEqual(ofBob.items.length, 1, 'Only the runs of one owner')
    checkEqual((await bench.schedules.list({ tenant: 'acme', agents: ['x'], limit: 9 })).items, [], 'Of other agents')
  },

  async 'deletes a schedule, with its owner too'(bench) {
    const { other, sessions } = bench
    const key = { ...ann, id: 'report' }
    await put(bench, 'report')
    checkEqual([await other.schedules.delete(key), await other.schedules.delete(key)], [true, false], 'Once')
    checkEqual(await bench.schedules.get(key), undefined, 'It is gone')
    for (const id of ['a', 'b']) await put(bench, id)
    await put(bench, 'his', { owner: 'bob' })
    const before = await current(bench, { ...ann, id: 'a' })
    await sessions.erase(ann)
    checkEqual(
      (await other.schedules.list({ tenant: 'acme', limit: 9 })).items.map(({ id }) => id),
      ['his'],
      'Erased',
    )
    checkEqual(await other.schedules.advance(before, { nextAt: 1 }), false, 'An erased schedule cannot be changed')
    await put(bench, 'a')
    check((await bench.schedules.get({ ...ann, id: 'a' })) !== undefined, 'The owner may have schedules again')
    await sessions.erase({ tenant: 'acme' })
    checkEqual((await other.schedules.list({ tenant: 'acme', limit: 9 })).items, [], 'Those of a tenant are erased')
  },
}
