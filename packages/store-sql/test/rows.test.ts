import { AlliumError, isAlliumError, type Message, type StoredTurn } from '@allium/core'
import { describe, expect, it } from 'vitest'
import {
  Blobs,
  type BlobTable,
  checkKey,
  type Encryption,
  historyFromRows,
  Sealer,
  turnFromRow,
  turnToRows,
} from '../src/index.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const turn: StoredTurn = {
  turnId: 't1',
  rootId: 't1',
  agent: 'agent',
  status: 'suspended',
  startedAt: 1,
  endedAt: 2,
  usage: { inputTokens: 1, outputTokens: 2, calls: 1 },
  answer: 'The secret answer.',
  idempotencyKey: 'k1',
  records: [{ id: 'r1', topic: 'bill', data: { cents: 7n }, at: 1 }],
  from: 0,
  messages: [{ role: 'user', content: 'A secret question' }],
  rest: {
    state: { at: new Date(0) },
    suspension: {
      turnId: 't1',
      rootId: 't1',
      stepIndex: 0,
      calls: {
        c1: { name: 'pay', turnId: 't1', agent: 'a', sent: 'a', args: 'b', schema: 'c', token: 'secret token' },
      },
    },
  },
}
/** Turns bits round, and knows its place by its name. */
const turned: Encryption = {
  seal: (bytes, { row }) => Buffer.concat([Buffer.from(`${row}\n`), bytes.map((byte) => byte ^ 255)]),
  open(bytes, { row }) {
    const head = Buffer.from(`${row}\n`)
    if (!Buffer.from(bytes.slice(0, head.length)).equals(head)) throw new AlliumError('store.sealed', 'Another place.')
    return bytes.slice(head.length).map((byte) => byte ^ 255)
  },
  mac: (bytes) => [new Uint8Array([bytes.length]), new Uint8Array([0])],
}

const none: BlobTable = {
  hold: async ({ digests }) => digests.map(() => 0),
  add: async () => true,
  rollback: async () => {},
  piece: async () => undefined,
  collect: async () => false,
}
const blobsOf = (sealer: Sealer) => new Blobs(none, sealer)

describe.each([
  ['in clear', new Sealer()],
  ['sealed', new Sealer(turned)],
])('a run as rows, %s', (how, sealer) => {
  it('comes back as it was', async () => {
    const { turn: row } = await turnToRows(key, turn, sealer)
    expect(await turnFromRow(key, row, blobsOf(sealer))).toEqual(turn)
  })

  it('is readable where nobody seals it, and nowhere else; tokens never are', async () => {
    const rows = JSON.stringify(await turnToRows(key, turn, sealer), (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    )
    expect([rows.includes('secret question'), rows.includes('secret answer')]).toEqual(
      Array(2).fill(how === 'in clear'),
    )
    const { pendingCalls } = await turnToRows(key, turn, sealer)
    expect(JSON.stringify(pendingCalls)).not.toContain('secret token')
  })
})

it('the digest of an ended run is the same again, and another one if any field differs', async () => {
  const digestOf = async (own: StoredTurn) => (await turnToRows(key, own, new Sealer())).digests[0]
  const changes: [string, unknown][] = [
    ...Object.entries({
      from: 3,
      messages: [],
      rest: { state: { other: 1 } },
      usage: {},
      answer: 'other',
      records: [],
    }),
    ...Object.entries({ turnId: 'o', rootId: 'o', agent: 'o', status: 'failed', startedAt: 9, endedAt: 9, code: 'o' }),
  ]
  const digests = await Promise.all(changes.map(([name, value]) => digestOf({ ...turn, [name]: value })))
  const own = await digestOf(turn)
  expect(await digestOf({ ...turn, reason: undefined } as never)).toBe(own)
  expect(new Set([own, ...digests]).size).toBe(changes.length + 1)
})

it('an answer that is the text of the last message is stored once, and any other one as it is', async () => {
  const sealer = new Sealer()
  const usual: Message = { role: 'assistant', content: 'The answer.' }
  const other: Message = { role: 'user', content: 'The answer.' }
  const fields: Pick<StoredTurn, 'answer' | 'messages'> = { answer: 'The answer.', messages: [usual] }
  const runs = [fields, { ...fields, answer: null }, { ...fields, messages: [other] }]
  const stored = await Promise.all(
    runs.map(async (own) => {
      const { turn: row } = await turnToRows(key, { ...turn, ...own }, sealer)
      const { answer, messages } = await turnFromRow(key, row, blobsOf(sealer))
      expect({ answer, messages }).toEqual({ answer: own.answer, messages: own.messages })
      return Buffer.from(row.info).toString()
    }),
  )
  expect(stored.map((info) => info.includes('The answer.'))).toEqual([false, false, true])
})

it('an error names the field that cannot be stored', async () => {
  const broken = { ...turn, messages: [{ role: 'user', content: () => {} }] } as never
  await expect(turnToRows(key, broken, new Sealer())).rejects.toThrow('"messages.0.content"')
})

it('a row at another place does not open, and a damaged one does not parse', async () => {
  const sealer = new Sealer(turned)
  const { turn: row } = await turnToRows(key, turn, sealer)
  const elsewhere = { ...key, owner: 'bob' }
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => 'nothing',
      (error) => (isAlliumError(error) ? error.code : String(error)),
    )
  expect(await code(turnFromRow(elsewhere, row, blobsOf(sealer)))).toBe('store.sealed')
  expect(await code(turnFromRow(key, { ...row, messages: new Uint8Array([123]) }, blobsOf(new Sealer())))).toBe(
    'store.corrupt',
  )
})

it('a row whose bytes are missing is corrupt, and tells which ones', async () => {
  const sealer = new Sealer()
  const image = { type: 'image' as const, data: new Uint8Array(5000), mediaType: 'image/png' }
  const { turn: row } = await turnToRows(key, { ...turn, messages: [{ role: 'user', content: [image] }] }, sealer)
  expect(row.messages.length).toBeLessThan(500)
  await expect(turnFromRow(key, row, blobsOf(sealer))).rejects.toMatchObject({
    code: 'store.corrupt',
    details: { tenant: 'acme' },
  })
})

it.each([['a\0'], ['a\ud800'], ['x'.repeat(2049)], [7 as never]])('checkKey() refuses %j anywhere in a key', (name) => {
  for (const part of Object.keys(key))
    expect(() => checkKey({ ...key, [part]: name })).toThrow(expect.objectContaining({ code: 'store.key' }))
})

it('loads the rows of a history in one step if the store does not encrypt', async () => {
  const messages = Buffer.from(JSON.stringify([{ role: 'user', content: 'hi' }]))
  const rows = Array.from({ length: 500 }, (_, start) => ({
    turn_id: `t${start}`,
    sealed_as: 'agent',
    start,
    messages,
  }))
  let history: unknown[] = []
  historyFromRows(key, rows, blobsOf(new Sealer())).then((loaded) => {
    history = loaded
  })
  await undefined
  expect(history).toHaveLength(500)
})
