import type { SessionKey } from '@allium/core'
import { check, checkEqual, checkRejects } from '../check.ts'
import { hostileNames, lookAlikes } from '../hostile-names.ts'
import { chat } from '../store/bench.ts'
import { add, idsOf, listAll, now, type RecordingCases, recordingOf } from './recording-bench.ts'

/** The size that every store accepts. */
const maxBytes = 1_000_000

/** Cases: what is stored, and for how long. */
export const keepCases: RecordingCases = {
  async 'returns a recording as it was added, also to other processes'({ recordings, other }) {
    const recording = recordingOf('turn', { content: JSON.stringify({ text: 'Zoë "👩‍👩‍👧" \u0000 \\ \n', n: 1e21 }) })
    await recordings.add(recording)
    for (const one of [recordings, other.recordings])
      checkEqual(await one.get(recording), recording, 'get() returns the recording')
    await add({ recordings } as never, recordingOf('empty', { content: '' }))
    checkEqual((await other.recordings.get(recordingOf('empty')))?.content, '', 'An empty content stays empty')
  },

  async 'has nothing of a turn that was not recorded'(bench) {
    checkEqual(await bench.recordings.get(recordingOf('none')), undefined, 'get() of an unknown turn')
    checkEqual(await listAll(bench), [], 'list() without recordings')
    checkEqual(await bench.recordings.sizes(), [], 'sizes() without recordings')
    checkEqual(await bench.recordings.prune(), 0, 'prune() without recordings')
  },

  async 'replaces the recording of the same turn'(bench) {
    await add(bench, recordingOf('a', { content: 'old' }), recordingOf('b'))
    const replaced = recordingOf('a', { content: 'new and longer', startedAt: 2000 })
    await add(bench.other, replaced)
    checkEqual(await bench.recordings.get(replaced), replaced, 'get() returns the last one')
    checkEqual(idsOf(await listAll(bench)), ['a', 'b'], 'It is listed once, in its new place')
    checkEqual((await listAll(bench))[0]?.bytes, 14, 'with its new size')
  },

  async 'rejects a content over the limit, measured in bytes, and stores one at the limit'(bench) {
    const large = recordingOf('large', { content: 'é'.repeat(maxBytes / 2) })
    await add(bench, large)
    checkEqual((await bench.other.recordings.get(large))?.content.length, maxBytes / 2, 'A content at the limit')
    const tooLarge = recordingOf('too large', { content: `${large.content}x` })
    await checkRejects(bench.recordings.add(tooLarge), 'recording.too_large', 'add() of a larger one')
    checkEqual(idsOf(await listAll(bench)), ['large'], 'and stores nothing of it')
  },

  async 'rejects names that are not plain text, and times that are not whole milliseconds'({ recordings }) {
    const nearby = recordingOf('turn', {}, { tenant: 'a\ufffd' })
    await recordings.add(nearby)
    for (const name of ['a\ud800', 'a\0', 'x'.repeat(2049), 7, null, undefined] as string[]) {
      for (const field of ['tenant', 'owner', 'agent', 'sessionId'])
        await checkRejects(
          recordings.add(recordingOf('turn', {}, { [field]: name })),
          'store.key',
          `add() with ${field}`,
        )
      await checkRejects(recordings.add(recordingOf(name)), 'store.key', 'add() with such an id of the turn')
      await checkRejects(recordings.get(recordingOf(name)), 'store.key', 'get() with such an id of the turn')
      await checkRejects(recordings.list({ agent: name, limit: 1 }), 'store.key', 'list() of such an agent')
      if (name === undefined) continue
      await checkRejects(
        recordings.list({ agent: 'a', tenant: name, limit: 1 }),
        'store.key',
        'list() of such a tenant',
      )
    }
    for (const time of [Number.NaN, 1.5, '1', Number.POSITIVE_INFINITY] as number[]) {
      await checkRejects(recordings.add(recordingOf('t', { startedAt: time })), 'store.key', `startedAt ${time}`)
      await checkRejects(recordings.add(recordingOf('t', { expiresAt: time })), 'store.key', `expiresAt ${time}`)
    }
    checkEqual(await recordings.get(nearby), nearby, 'No other recording was changed')
  },

  async 'keeps tenants, owners, agents, sessions and turns apart, whatever their names are'({ recordings, other }) {
    const names = hostileNames.filter((name) => !name.includes('\u0000'))
    const keys: [turnId: string, key: Partial<SessionKey>][] = [
      ...names.flatMap((name): [string, Partial<SessionKey>][] => [
        ['turn', { tenant: name }],
        ['turn', { owner: name }],
        ['turn', { agent: name }],
        ['turn', { sessionId: name }],
        [name, {}],
      ]),
      ...lookAlikes.flatMap(([a, b]): [string, Partial<SessionKey>][] => [
        ['x', { tenant: a, owner: b }],
        ['x', { tenant: 'acme', owner: a, agent: `a${b}` }],
        [b, { agent: 'x', sessionId: a }],
      ]),
    ]
    const all = new Map(keys.map(([turnId, key]) => [JSON.stringify([turnId, key]), recordingOf(turnId, {}, key)]))
    const own = (name: string) => JSON.stringify({ content: name })
    for (const [name, one] of all) await recordings.add({ ...one, content: own(name) })
    for (const [name, one] of all)
      checkEqual((await other.recordings.get(one))?.content, own(name), `${name} has its own recording`)
  },

  async 'returns nothing of a turn to a caller that names another tenant, owner, agent or session'(bench) {
    await add(bench, recordingOf('secret'))
    for (const field of ['tenant', 'owner', 'agent', 'sessionId'] as const)
      for (const name of ['%', '*', chat[field].toUpperCase(), `${chat[field]} `, '__proto__'])
        checkEqual(
          await bench.other.recordings.get(recordingOf('secret', {}, { [field]: name })),
          undefined,
          `get() with the ${field} ${JSON.stringify(name)}`,
        )
  },

  async 'reports how many recordings each tenant has, their bytes and the oldest'(bench) {
    await add(
      bench,
      recordingOf('a', { content: 'é', startedAt: 5 }),
      recordingOf('b', { content: '123', startedAt: 3 }),
    )
    await add(bench, recordingOf('c', { content: '1', startedAt: 9 }, { tenant: 'Zed', agent: 'other' }))
    await add(bench, recordingOf('d', { content: '12', startedAt: 7 }, { tenant: '' }))
    checkEqual(
      await bench.other.recordings.sizes(),
      [
        { tenant: '', count: 1, bytes: 2, oldestAt: 7 },
        { tenant: 'Zed', count: 1, bytes: 1, oldestAt: 9 },
        { tenant: 'acme', count: 2, bytes: 5, oldestAt: 3 },
      ],
      'sizes() of all tenants',
    )
  },

  async 'returns no expired recording, and prune() deletes them and tells how many'(bench) {
    const { recordings, other, lease: ms, wait } = bench
    const expiresAt = (await now(bench)) + ms * 2
    const old = Array.from({ length: 3 }, (_, i) => recordingOf(`old ${i}`, { expiresAt }))
    await add(bench, ...old, recordingOf('new'))
    checkEqual(await recordings.prune(), 0, 'No recording has expired yet')
    checkEqual((await listAll(bench)).length, 4, 'All are listed')
    await wait(ms * 3)
    checkEqual(await other.recordings.get(old[0] as never), undefined, 'get() of an expired one')
    checkEqual(idsOf(await listAll(bench)), ['new'], 'list() leaves out expired ones')
    checkEqual(await recordings.prune(), 3, 'prune() returns the number of deleted recordings')
    checkEqual((await other.recordings.sizes())[0]?.count, 1, 'They are gone')
    checkEqual(await recordings.prune(), 0, 'and are deleted once')
  },

  async 'deletes expired recordings as it stores others'(bench) {
    const { lease: ms, wait } = bench
    const expiresAt = (await now(bench)) + ms
    await add(bench, recordingOf('a', { expiresAt }), recordingOf('b', { expiresAt }))
    await wait(ms * 2)
    await add(bench, recordingOf('c'))
    const [sizes] = await bench.other.recordings.sizes()
    check(sizes?.count === 1, `add() deletes expired recordings, but ${sizes?.count} are stored`)
    checkEqual(await bench.recordings.prune(), 0, 'Nothing is left to prune')
  },
}
