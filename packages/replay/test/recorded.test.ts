import { Agent, toJson } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { record } from '../src/index.ts'
import {
  fullRequests,
  parseRecording,
  type ReadTurn,
  type RecordingsQuery,
  readRecordings,
} from '../src/recorded/index.ts'
import { oneCall, recorded, work } from './kit.ts'

/** An agent whose sessions and recordings are in one store. */
function stored(store = memoryStore()) {
  const agent = new Agent({ name: 'helper', model: scriptedModel(['one', ...oneCall, 'three', 'four']), tools: [work] })
  agent.use(persist({ store })).use(record({ store: store.recordings }))
  const session = (id: string, tenantId: string) => agent.session({ id, principal: { tenantId, userId: 'dana' } })
  return { store, session }
}

async function turnsOf(query: RecordingsQuery) {
  const read = readRecordings(query)
  const turns: ReadTurn[] = []
  for await (const turn of read) turns.push(turn)
  return { turns, unread: read.unread }
}

describe('readRecordings()', () => {
  it('returns the turns oldest first, each with the session before it and its full requests', async () => {
    const { store, session } = stored()
    const chat = session('s1', 'acme')
    await chat.run('first')
    await chat.run('second')
    const { turns, unread } = await turnsOf({ recordings: store.recordings, sessions: store, agent: 'helper' })
    expect(turns.map(({ recorded: { task }, before }) => [task.input, before.history.length])).toEqual([
      ['first', 0],
      ['second', 2],
    ])
    const [, second] = turns
    const requests = fullRequests(second?.recorded as never, second?.before.history ?? [])
    expect(requests.map(({ messages, tools }) => [messages.length, tools?.length])).toEqual([
      [3, 1],
      [5, 1],
    ])
    expect(unread).toEqual({})
  })

  it('selects by tenant, and returns the newest of more than the limit', async () => {
    const { store, session } = stored()
    await session('s1', 'acme').run('a')
    await session('s2', 'other').run('b')
    await session('s3', 'acme').run('c')
    const query = { recordings: store.recordings, agent: 'helper', tenant: 'acme' }
    const inputs = async (more: object) =>
      (await turnsOf({ ...query, ...more })).turns.map(({ recorded: { task } }) => task.input)
    expect([await inputs({}), await inputs({ limit: 1 })]).toEqual([['a', 'c'], ['c']])
  })

  it('counts turns whose history is gone, and recordings that are damaged', async () => {
    const { store, session } = stored()
    const chat = session('s1', 'acme')
    await chat.run('first')
    await chat.run('second')
    const key = chat.key
    const times = { startedAt: Date.now(), expiresAt: Date.now() + 1e6 }
    await store.recordings.add({ key, turnId: 'bad', ...times, content: '{"format":1,"agent":7}' })
    const { turns, unread } = await turnsOf({ recordings: store.recordings, agent: 'helper' })
    expect(turns.map(({ recorded: { task } }) => task.input)).toEqual(['first'])
    expect(unread).toEqual({ 'history gone': 1, 'the recording is damaged': 1 })
  })

  it('counts turns whose owner is erased while they are read, and returns none of them', async () => {
    const { store, session } = stored()
    for (const id of ['s1', 's2', 's3']) await session(id, 'acme').run(id)
    const read = readRecordings({ recordings: store.recordings, sessions: store, agent: 'helper' })
    const ids: string[] = []
    for await (const { key } of read) {
      ids.push(key.sessionId)
      await store.erase({ tenant: 'acme', owner: 'dana' })
    }
    expect([ids.length, read.unread]).toEqual([1, { 'the recording was erased or has expired': 2 }])
  })

  it('rejects unknown options and a limit below 1', () => {
    const query = { recordings: memoryStore().recordings, agent: 'helper' }
    expect(() => readRecordings({ ...query, tennant: 'acme' } as never)).toThrow('"tenant"')
    expect(() => readRecordings({ ...query, limit: 0 })).toThrow('limit takes a whole number from 1 on, not 0')
  })
})

const request = { turnId: 't', call: 0, attempt: 1, model: 'm' }
const requestOf = (messages: object[]) => ({ ...request, messages })

describe('parseRecording()', () => {
  const change = async (changes: object) => {
    const { agent, turns } = recorded(oneCall)
    await agent.run('hi')
    return toJson({ ...turns()[0], ...changes })
  }

  it('returns what record() wrote', async () => {
    const content = await change({})
    expect(toJson(parseRecording(content))).toBe(content)
  })

  it.each([
    ['another format', { format: 2 }, 'has the format 2'],
    ['an agent that is no text', { agent: 7 }, 'field recording.agent'],
    ['a step without a time', { steps: [{ id: 'a', at: 'now' }] }, 'field recording.steps[0].at'],
    ['an unknown reference', { requests: [{ ...request, messages: [{ of: 'all' }] }] }, 'messages[0].of'],
    ['an unknown decision', { decisions: [{ turnId: 't', scope: 'tool', decision: 'x' }] }, 'decisions[0].decision'],
    ['a negative length', { before: { messages: -1 } }, 'field recording.before.messages'],
    ['deep values', { context: JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) }, 'more than 200 levels'],
    ['more than 1 MB', { context: 'x'.repeat(1_000_000) }, 'more than the 1000000 that are read'],
  ])('rejects %s', async (_, changes, message) => {
    const content = await change(changes)
    expect(() => parseRecording(content)).toThrow(expect.objectContaining({ code: 'recording.invalid' }))
    expect(() => parseRecording(content)).toThrow(message)
  })

  it('rejects texts that are no recording', () => {
    for (const content of ['', 'null', '[]', '{', '7', '['.repeat(100_000), undefined])
      expect(() => parseRecording(content)).toThrow(expect.objectContaining({ code: 'recording.invalid' }))
  })

  it('rejects references outside the history, and references that multiply messages', async () => {
    const all = (at: number) => ({ of: 'before', from: 0, count: 2 ** at })
    const bomb = Array.from({ length: 30 }, (_, at) =>
      requestOf(at === 0 ? [{ messages: [{ role: 'user', content: 'a' }] }] : [all(at - 1), all(at - 1)]),
    )
    const full = async (requests: object[]) => fullRequests(parseRecording(await change({ requests })), [])
    await expect(full([requestOf([{ of: 'history', from: 0, count: 9 }])])).rejects.toThrow('the history, which has 0')
    await expect(full(bomb)).rejects.toThrow('more than 1000000 messages')
  })
})
