import type { FeedbackQuery } from '@allium/store'
import { checkEqual, checkRejects } from '../check.ts'
import { type FeedbackCases, feedbackOn, idsOf, listAll, put } from './feedback-bench.ts'

/** Five, two of which were given at the same time. */
const five = [3, 1, 2, 2, 5].map((at, i) => feedbackOn(`${at}${'abcde'[i]}`, { at, comment: `${i}`, score: i / 4 }))

/** Cases: lists. */
export const listCases: FeedbackCases = {
  async 'lists the feedback on an agent with its comments, the newest first, or the oldest'(bench) {
    await put(bench, ...five)
    const newest = idsOf(await listAll(bench.other))
    checkEqual(idsOf(await listAll(bench, { order: 'desc' })), newest, 'The newest come first without an order')
    checkEqual(
      newest.map((id) => id[0]),
      ['5', '3', '2', '2', '1'],
      'By their time',
    )
    checkEqual(idsOf(await listAll(bench, { order: 'asc' })), newest.toReversed(), 'The oldest first is the reverse')
    checkEqual((await listAll(bench))[1], five[0], 'An item is the whole feedback')
  },

  async 'lists feedback from a time on and before another, and between two scores'(bench) {
    await put(bench, ...five)
    const listed = async (query: Partial<FeedbackQuery>) =>
      idsOf(await listAll(bench, { limit: 2, ...query })).toSorted()
    for (const order of ['asc', 'desc'] as const) {
      checkEqual(await listed({ order, since: 2 }), ['2c', '2d', '3a', '5e'], 'since includes its time')
      checkEqual(await listed({ order, until: 2 }), ['1b'], 'until does not')
      checkEqual(await listed({ order, since: 2, until: 5 }), ['2c', '2d', '3a'], 'both')
      checkEqual(await listed({ order, maxScore: 0.25 }), ['1b', '3a'], 'maxScore includes its score')
      checkEqual(await listed({ order, minScore: 0.75 }), ['2d', '5e'], 'minScore, too')
      checkEqual(await listed({ order, minScore: 0.5, maxScore: 0.5 }), ['2c'], 'both')
      checkEqual(await listed({ order, since: 6 }), [], 'and nothing where there is none')
    }
    for (const bad of [{ minScore: -1 }, { maxScore: 2 }, { minScore: Number.NaN }])
      await checkRejects(bench.feedback.list({ agent: 'a', limit: 1, ...bad }), 'options.invalid', JSON.stringify(bad))
  },

  async 'lists no feedback of another tenant, owner, agent, session or person'(bench) {
    const names = ['acme', 'ACME', 'acm_', '']
    for (const name of names)
      await put(
        bench,
        ...['agent', 'other'].map((agent) => feedbackOn(`tenant ${name}/${agent}`, {}, { tenant: name, agent })),
        feedbackOn(`owner ${name}`, {}, { tenant: 'globex', owner: name }),
        feedbackOn(`session ${name}`, {}, { tenant: 'globex', sessionId: name }),
        feedbackOn(`by ${name}`, { by: name }, { tenant: 'globex' }),
      )
    for (const name of names) {
      const listed = async (query: Partial<FeedbackQuery>) => idsOf(await listAll(bench, { limit: 1, ...query }))
      for (const agent of ['agent', 'other'])
        checkEqual(await listed({ tenant: name, agent }), [`tenant ${name}/${agent}`], 'One tenant and agent')
      checkEqual(await listed({ tenant: 'globex', owner: name }), [`owner ${name}`], 'One owner')
      checkEqual(await listed({ tenant: 'globex', sessionId: name }), [`session ${name}`], 'One session')
      checkEqual(await listed({ tenant: 'globex', by: name }), [`by ${name}`], 'One person')
    }
    checkEqual((await listAll(bench)).length, names.length * 4, 'Without a tenant it lists those of all')
    checkEqual(await listAll(bench, { tenant: 'nobody' }), [], 'Nothing of a tenant without feedback')
  },

  async 'lists each feedback once over pages of any size, also where all were given at once'(bench) {
    const all = Array.from({ length: 7 }, (_, i) => feedbackOn(`turn ${i}`, {}, { sessionId: `chat ${i % 2}` }))
    await put(bench, ...all)
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 2, 3, 7, 8]) {
        const listed = idsOf(await listAll(bench, { order, limit, tenant: 'acme' }))
        checkEqual(listed.toSorted(), idsOf(all).toSorted(), `Pages of ${limit}, ${order}`)
        checkEqual(listed, idsOf(await listAll(bench.other, { order })), 'in the same order')
      }
    const { cursor } = await bench.feedback.list({ agent: 'agent', limit: 7 })
    checkEqual(cursor, undefined, 'The last page has no cursor')
  },

  async 'lists those that were there once, while others are added'(bench) {
    await put(bench, ...five)
    for (const order of ['asc', 'desc'] as const) {
      let added = 0
      const listed = await listAll(bench, { order, limit: 2 }, async () => {
        added++
        await put(
          bench.other,
          feedbackOn(`new ${order} ${added}`, { at: 2 }),
          feedbackOn(`newer ${order} ${added}`, { at: 9 }),
        )
      })
      const known = idsOf(listed).filter((id) => !id.startsWith('new'))
      checkEqual(known.toSorted(), idsOf(five).toSorted(), `Each feedback is listed once (${order})`)
      checkEqual(new Set(idsOf(listed)).size, listed.length, 'and so are the new ones, if they are listed')
    }
  },

  async 'rejects an invalid cursor'({ feedback }) {
    for (const cursor of ['', 'x', '[]', '["a",1]', '{}', 'null'])
      await checkRejects(feedback.list({ agent: 'agent', limit: 1, cursor }), 'store.key', `The cursor ${cursor}`)
  },
}
