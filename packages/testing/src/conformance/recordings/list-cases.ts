import { checkEqual, checkRejects } from '../check.ts'
import { add, idsOf, listAll, type RecordingCases, recordingOf } from './recording-bench.ts'

/** Five turns, two of which began at the same time. */
const five = [3, 1, 2, 2, 5].map((startedAt, i) => recordingOf(`${startedAt}${'abcde'[i]}`, { startedAt }))

/** Cases: lists. */
export const listCases: RecordingCases = {
  async 'lists the recordings of an agent without their content, the newest first, or the oldest'(bench) {
    await add(bench, ...five)
    const newest = idsOf(await listAll(bench.other))
    checkEqual(idsOf(await listAll(bench, { order: 'desc' })), newest, 'The newest come first without an order')
    checkEqual(
      newest.map((id) => id[0]),
      ['5', '3', '2', '2', '1'],
      'By the start of their turns',
    )
    checkEqual(idsOf(await listAll(bench, { order: 'asc' })), newest.toReversed(), 'The oldest first is the reverse')
    const { content, ...info } = five[0] as (typeof five)[0]
    checkEqual((await listAll(bench))[1], { ...info, bytes: content.length }, 'An item has the size of its content')
  },

  async 'lists turns from a time on and before another'(bench) {
    await add(bench, ...five)
    for (const order of ['asc', 'desc'] as const) {
      const listed = async (since?: number, until?: number) =>
        idsOf(await listAll(bench, { since, until, order, limit: 2 }))
          .map((id) => Number(id[0]))
          .toSorted()
      checkEqual(await listed(2), [2, 2, 3, 5], 'since includes its time')
      checkEqual(await listed(undefined, 2), [1], 'until does not')
      checkEqual(await listed(2, 5), [2, 2, 3], 'both')
      checkEqual(await listed(6), [], 'and nothing where there is none')
    }
  },

  async 'lists no recording of another tenant or agent'(bench) {
    const names = ['acme', 'ACME', 'acm_', '']
    for (const tenant of names)
      for (const agent of ['agent', 'other']) await add(bench, recordingOf(`${tenant}/${agent}`, {}, { tenant, agent }))
    for (const tenant of names)
      for (const agent of ['agent', 'other'])
        checkEqual(idsOf(await listAll(bench, { tenant, agent, limit: 1 })), [`${tenant}/${agent}`], 'One tenant')
    checkEqual(
      idsOf(await listAll(bench, { limit: 1 })).toSorted(),
      names.map((tenant) => `${tenant}/agent`).toSorted(),
      'Without a tenant it lists those of all',
    )
    checkEqual(await listAll(bench, { tenant: 'nobody' }), [], 'Nothing of a tenant without recordings')
  },

  async 'lists each recording once over pages of any size, also where all turns began at once'(bench) {
    const all = Array.from({ length: 7 }, (_, i) => recordingOf(`turn ${i}`, {}, { sessionId: `chat ${i % 2}` }))
    await add(bench, ...all)
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 2, 3, 7, 8]) {
        const listed = idsOf(await listAll(bench, { order, limit, tenant: 'acme' }))
        checkEqual(listed.toSorted(), idsOf(all).toSorted(), `Pages of ${limit}, ${order}`)
        checkEqual(listed, idsOf(await listAll(bench.other, { order })), 'in the same order')
      }
    const { cursor } = await bench.recordings.list({ agent: 'agent', limit: 7 })
    checkEqual(cursor, undefined, 'The last page has no cursor')
  },

  async 'lists those that were there once, while others are added and replaced'(bench) {
    await add(bench, ...five)
    for (const order of ['asc', 'desc'] as const) {
      let added = 0
      const listed = await listAll(bench, { order, limit: 2 }, async () => {
        added++
        await add(bench.other, recordingOf(`new ${order} ${added}`, { startedAt: 2 }))
        await add(bench.other, recordingOf(`newer ${order} ${added}`, { startedAt: 9 }))
        await add(bench.other, { ...(five[3] as (typeof five)[0]), content: `replaced ${added}` })
      })
      const known = idsOf(listed).filter((id) => !id.startsWith('new'))
      checkEqual(known.toSorted(), idsOf(five).toSorted(), `Each recording is listed once (${order})`)
      checkEqual(new Set(idsOf(listed)).size, listed.length, 'and so are the new ones, if they are listed')
    }
  },

  async 'rejects an invalid cursor'({ recordings }) {
    for (const cursor of ['', 'x', '[]', '["a",1]', '{}', 'null'])
      await checkRejects(recordings.list({ agent: 'agent', limit: 1, cursor }), 'store.key', `The cursor ${cursor}`)
  },
}
