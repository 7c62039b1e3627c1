import type { SessionKey } from '@allium/core'
import type { Feedback, RunKey } from '@allium/store'
import { checkEqual, checkRejects } from '../check.ts'
import { hostileNames, lookAlikes } from '../hostile-names.ts'
import { chat } from '../store/bench.ts'
import { type FeedbackCases, feedbackOn, idsOf, listAll, put } from './feedback-bench.ts'

/** The bounds that every store accepts. */
const [maxCommentBytes, maxTags, maxTagLength] = [4000, 16, 64]

/** Cases: what is stored. */
export const keepCases: FeedbackCases = {
  async 'returns feedback as it was given, also to other processes'({ feedback, other }) {
    const full = feedbackOn('turn', { score: 0.25, comment: 'Zoë "👩‍👩‍👧" \u0000 \\ \n', tags: ['wrong price', 'é'] })
    const bare = feedbackOn('bare', { score: 0 })
    const empty = feedbackOn('empty', { comment: '' })
    await put({ feedback } as never, full, bare, empty)
    for (const one of [feedback, other.feedback])
      for (const given of [full, bare, empty]) checkEqual(await one.get(given), given, 'get() returns the feedback')
  },

  async 'has nothing of a run without feedback'(bench) {
    const { feedback } = bench
    const none = feedbackOn('none')
    checkEqual(await feedback.get(none), undefined, 'get() of an unknown run')
    checkEqual(await feedback.delete(none), false, 'delete() of an unknown run')
    checkEqual(await listAll(bench), [], 'list() without feedback')
    checkEqual(await feedback.ofRuns([none.run]), [], 'ofRuns() without feedback')
    checkEqual(await feedback.ofRuns([]), [], 'ofRuns() without runs')
    checkEqual(await feedback.summary(), [], 'summary() without feedback')
  },

  async 'keeps the last feedback of a person on a run, in all its parts'(bench) {
    await put(bench, feedbackOn('a', { score: 1, comment: 'Good', tags: ['fast'] }), feedbackOn('b'))
    const changed = feedbackOn('a', { score: 0, at: 2000 })
    await put(bench.other, changed)
    checkEqual(await bench.feedback.get(changed), changed, 'get() returns the last one, without the former comment')
    checkEqual(idsOf(await listAll(bench)), ['a', 'b'], 'It is listed once, in its new place')
    checkEqual(await bench.feedback.delete(changed), true, 'delete() of an existing one')
    checkEqual(await bench.other.feedback.get(changed), undefined, 'It is gone')
    checkEqual(idsOf(await listAll(bench)), ['b'], 'and no other')
  },

  async 'keeps the feedback of each person apart'(bench) {
    const ann = feedbackOn('a', { score: 1 })
    const bob = feedbackOn('a', { by: 'bob', score: 0, at: 2000 })
    await put(bench, bob, ann)
    checkEqual([await bench.other.feedback.get(ann), await bench.feedback.get(bob)], [ann, bob], 'get() of a person')
    checkEqual(await bench.feedback.ofRuns([ann.run]), [ann, bob], 'ofRuns() returns that of all, the oldest first')
    await bench.other.feedback.delete(ann)
    checkEqual(await listAll(bench), [bob], 'delete() removes only that of one person')
  },

  async 'rejects scores, comments and tags out of bounds, and stores those at the bounds'(bench) {
    const many = Array.from({ length: maxTags }, (_, i) => `${i}`.padEnd(maxTagLength, 'x'))
    const largest = feedbackOn('turn', { comment: 'é'.repeat(maxCommentBytes / 2), tags: many })
    await put(bench, largest)
    checkEqual(await bench.other.feedback.get(largest), largest, 'Feedback at the bounds')
    const bad: Record<string, unknown>[] = [
      ...[-0.1, 1.1, Number.NaN, '1', null, undefined].map((score) => ({ score })),
      { comment: `${largest.comment}x` },
      ...['\ud800', 7, null].map((comment) => ({ comment })),
      { tags: [...many, 'more'] },
      ...[['x'.repeat(maxTagLength + 1)], [''], ['\udfff'], [7], ['a', 'a'], 'a', {}].map((tags) => ({ tags })),
    ]
    for (const more of bad) {
      const given = { ...largest, ...more } as unknown as Feedback
      await checkRejects(
        bench.feedback.put(given),
        'options.invalid',
        `put() with ${JSON.stringify(more).slice(0, 60)}`,
      )
    }
    checkEqual(await bench.feedback.get(largest), largest, 'and stores nothing of them')
  },

  async 'rejects names that are not plain text, and times that are not whole milliseconds'({ feedback }) {
    const nearby = feedbackOn('turn', {}, { tenant: 'a\ufffd' })
    await feedback.put(nearby)
    for (const name of ['a\ud800', 'a\0', 'x'.repeat(2049), 7, null, undefined] as string[]) {
      for (const field of ['tenant', 'owner', 'agent', 'sessionId'])
        await checkRejects(feedback.put(feedbackOn('turn', {}, { [field]: name })), 'store.key', `put() with ${field}`)
      for (const one of [feedbackOn(name), feedbackOn('turn', { by: name })]) {
        await checkRejects(feedback.put(one), 'store.key', 'put() with such a run or person')
        await checkRejects(feedback.get(one), 'store.key', 'get() with such a run or person')
        await checkRejects(feedback.delete(one), 'store.key', 'delete() with such a run or person')
      }
      await checkRejects(feedback.list({ agent: name, limit: 1 }), 'store.key', 'list() of such an agent')
      await checkRejects(feedback.ofRuns([feedbackOn(name).run]), 'store.key', 'ofRuns() of such a run')
      if (name === undefined) continue
      for (const field of ['tenant', 'owner', 'sessionId', 'by'])
        await checkRejects(feedback.list({ agent: 'a', [field]: name, limit: 1 }), 'store.key', `list() with ${field}`)
      await checkRejects(feedback.summary({ tenant: name }), 'store.key', 'summary() of such a tenant')
    }
    for (const at of [Number.NaN, 1.5, '1', Number.POSITIVE_INFINITY] as number[])
      await checkRejects(feedback.put(feedbackOn('t', { at })), 'store.key', `at ${at}`)
    checkEqual(await feedback.get(nearby), nearby, 'No other feedback was changed')
  },

  async 'keeps tenants, owners, agents, sessions, runs and people apart, whatever their names are'(bench) {
    const names = hostileNames.filter((name) => !name.includes('\u0000'))
    const places: [turnId: string, key: Partial<SessionKey>, by: string][] = [
      ...names.flatMap((name): [string, Partial<SessionKey>, string][] => [
        ['turn', { tenant: name }, 'ann'],
        ['turn', { owner: name }, 'ann'],
        ['turn', { agent: name }, 'ann'],
        ['turn', { sessionId: name }, 'ann'],
        [name, {}, 'ann'],
        ['turn', {}, name],
      ]),
      ...lookAlikes.flatMap(([a, b]): [string, Partial<SessionKey>, string][] => [
        ['x', { tenant: a, owner: b }, 'ann'],
        [a, { agent: 'x' }, b],
        [b, { agent: 'x', sessionId: a }, 'ann'],
      ]),
    ]
    const all = new Map(
      places.map(([turnId, key, by]) => [JSON.stringify([turnId, key, by]), feedbackOn(turnId, { by }, key)]),
    )
    for (const [name, one] of all) await bench.feedback.put({ ...one, comment: name })
    for (const [name, one] of all)
      checkEqual((await bench.other.feedback.get(one))?.comment, name, `${name} has its own feedback`)
  },

  async 'returns nothing to a caller that names another tenant, owner, agent, session or person'(bench) {
    await put(bench, feedbackOn('secret'))
    for (const field of ['tenant', 'owner', 'agent', 'sessionId'] as const)
      for (const name of ['%', '*', chat[field].toUpperCase(), `${chat[field]} `, '__proto__']) {
        const one = feedbackOn('secret', {}, { [field]: name })
        checkEqual(await bench.other.feedback.get(one), undefined, `get() with the ${field} ${JSON.stringify(name)}`)
        checkEqual(await bench.other.feedback.delete(one), false, `delete() with the ${field}`)
        checkEqual(await bench.feedback.ofRuns([one.run]), [], `ofRuns() with the ${field}`)
      }
    checkEqual(await bench.feedback.get(feedbackOn('secret', { by: 'bob' })), undefined, 'get() of another person')
    checkEqual(idsOf(await listAll(bench)), ['secret'], 'and it is still there')
  },

  async 'returns the feedback on the given runs, by run, and rejects too many'(bench) {
    const [a, b, c] = ['a', 'b', 'c'].map((id, i) => feedbackOn(id, { at: 3000 - i })) as [Feedback, Feedback, Feedback]
    await put(bench, a, b, c, feedbackOn('a', {}, { tenant: 'globex' }))
    const runs = [c.run, { ...a.run, turnId: 'none' }, a.run]
    checkEqual(await bench.other.feedback.ofRuns(runs), [c, a], 'ofRuns() follows the order of the runs')
    const many: RunKey[] = Array.from({ length: 1001 }, () => b.run)
    await checkRejects(bench.feedback.ofRuns(many), 'options.invalid', 'ofRuns() of 1,001 runs')
  },

  async 'counts feedback by tenant and agent, with its mean score and the time of the newest'(bench) {
    await put(
      bench,
      feedbackOn('a', { at: 5 }),
      feedbackOn('b', { score: 0, at: 3 }),
      feedbackOn('c', { score: 0.5, at: 4 }),
    )
    await put(bench, feedbackOn('a', { score: 0.25, at: 7 }, { tenant: 'Zed', agent: 'other' }))
    await put(bench, feedbackOn('a', { score: 0.75, at: 9 }, { tenant: '' }))
    const acme = { tenant: 'acme', agent: 'agent', count: 3, up: 1, down: 1, mean: 0.5, latestAt: 5 }
    const others = [
      { tenant: '', agent: 'agent', count: 1, up: 1, down: 0, mean: 0.75, latestAt: 9 },
      { tenant: 'Zed', agent: 'other', count: 1, up: 0, down: 1, mean: 0.25, latestAt: 7 },
    ]
    checkEqual(await bench.other.feedback.summary(), [...others, acme], 'summary() of all tenants')
    checkEqual(await bench.feedback.summary({ tenant: 'acme' }), [acme], 'summary() of one')
    const since = await bench.feedback.summary({ tenant: 'acme', since: 5 })
    checkEqual(since, [{ ...acme, count: 1, down: 0, mean: 1 }], 'summary() since a time')
  },
}
