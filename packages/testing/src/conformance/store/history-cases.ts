import { filesIn, type HistoryTurn, StoredFile } from '@allium/store'
import { check, checkEqual } from '../check.ts'
import { acquireLease, add, chat, runningTurn, type StoreCases, turnOf } from './bench.ts'
import { largeValues, turnWith } from './blob-cases.ts'

/** Cases: reading parts of a session. */
export const historyCases: StoreCases = {
  async 'returns the rest of a session without its messages, also after an earlier run'(bench) {
    const { store, other, lease: ms } = bench
    checkEqual(await other.head(chat), undefined, 'There is no session')
    const lease = await acquireLease(store, chat, ms * 100)
    await store.checkpoint(lease, 0, runningTurn('one'))
    checkEqual(await other.head(chat), { version: 0, rest: { state: {} } }, 'A session with only an open run is empty')
    checkEqual(await other.head(chat, { turnId: 'turn-one' }), undefined, 'A run has no rest before it ends')
    for (const [version, text] of ['one', 'two'].entries())
      await store.append(lease, version, turnOf(text, version * 2))
    const open = { ...runningTurn('three', 4), resumes: 'turn-two' }
    await store.checkpoint(lease, 2, open)
    const { turnId, from, messages, resumes } = open
    const [running] = await other.history(chat, { before: 9, limit: 1 })
    checkEqual(running, { turnId, from, messages, resumes }, 'A page has the run in progress first')
    for (const [index, options] of [{ turnId: 'turn-one' }, undefined].entries())
      checkEqual(
        await other.head(chat, options),
        { version: index + 1, rest: { state: { said: ['one', 'two'][index] } } },
        'head() has the version and the rest',
      )
    const bob = { ...chat, owner: 'bob' }
    checkEqual(await other.head(bob), undefined, 'Another owner has no such session')
    checkEqual(await other.history(bob, { before: 9, limit: 9 }), [], 'Another owner has no such history')
  },

  async 'returns a page of the history that ends at any message, as the last run left it'(bench) {
    const turns = [turnOf('one'), turnOf('two', 2), turnOf('three', 4), turnOf('rewound', 3), turnOf('last', 5)]
    await add(bench, chat, ...turns)
    const { history = [] } = (await bench.other.load(chat)) ?? {}
    for (let before = 1; before <= history.length; before++)
      for (let limit = 1; limit <= before; limit++) {
        const page = await bench.other.history(chat, { before, limit })
        checkEqual(
          messagesOf(page, before).slice(-limit),
          history.slice(before - limit, before),
          `The last ${limit} messages before ${before}`,
        )
      }
    const last = { turnId: 'turn-last', version: 5, from: 5, messages: turns[4]?.messages }
    checkEqual(await bench.other.history(chat, { before: 9, limit: 2 }), [last], 'A page reads no further runs')
  },

  async 'reads an image of a page on demand, and everything else unchanged'(bench) {
    const values = largeValues()
    const turn = turnWith(...values)
    await add(bench, chat, turn)
    const [page] = await bench.other.history(chat, { before: 9, limit: 9 })
    const files = page?.messages.flatMap(({ content }) => filesIn(content)) ?? []
    check(
      files.some(({ data }) => data instanceof StoredFile),
      'The data of a large file is not read before its read() is called',
    )
    for (const file of files) if (file.data instanceof StoredFile) file.data = await file.data.read()
    checkEqual(page?.messages, turn.messages, 'read() returns the data as it was stored')
  },
}

function messagesOf(page: readonly HistoryTurn[], before: number) {
  let until = before
  return page
    .flatMap(({ from, messages }) => {
      const visible = messages.slice(0, Math.max(0, until - from))
      until = Math.min(until, from)
      return [visible]
    })
    .reverse()
    .flat()
}
