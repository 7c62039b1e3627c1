import type { Message, Part, StoredTurn } from '@allium/core'
import { checkEqual } from '../check.ts'
import { show } from '../difference.ts'
import { acquireLease, add, chat, runningTurn, type StoreBench, type StoreCases, storedTurn, turnOf } from './bench.ts'

/** Cases for images and files: a store may keep their bytes separately, and share one copy between messages. */
export const blobCases: StoreCases = {
  async 'returns large bytes, base64 and data URLs unchanged, also in tool results and state'(bench) {
    const given = turnWith(...largeValues())
    await add(bench, chat, given)
    checkEqual((await bench.other.load(chat))?.history, given.messages, 'load() returns every value unchanged')
    const found = await bench.other.find(chat, { turnId: given.turnId })
    checkEqual(found, given, 'find() gives the whole turn, with its state and records')
  },

  async 'returns the images of an active run, and of its stored turn'(bench) {
    const { store, other, lease: ms } = bench
    const [image] = largeValues()
    const lease = await acquireLease(store, chat, ms * 100)
    const { messages } = turnWith(image)
    await store.checkpoint(lease, 0, runningTurn('look'))
    await store.checkpoint(lease, 0, runningTurn('look', 0, { messages }))
    checkEqual((await other.load(chat))?.open?.messages, messages, 'The active run has its image')
    await store.checkpoint(lease, 0, runningTurn('look', 0, { messages }))
    await store.append(lease, 0, { ...turnOf('look'), messages }, { release: true })
    checkEqual((await other.load(chat))?.history, messages, 'The turn that it becomes has it, too')
  },

  async 'keeps input that looks like a reference to bytes as data'(bench) {
    const posing = { $blob: 0, $blobs: [{ digest: 'x', size: 1 }] }
    const [image] = largeValues()
    const given = turnWith(image, JSON.stringify(posing), `${JSON.stringify(posing)}\n{"$blob":0}`)
    given.rest.state.posing = [{ $blob: 0 }, posing]
    await add(bench, chat, given)
    checkEqual(await bench.other.find(chat, { version: 1 }), given, 'Data that looks like a reference is not resolved')
  },

  async 'takes its own copy of bytes before it waits for anything'(bench) {
    const { store, other, lease: ms } = bench
    const data = bytesOf(270_000)
    const lease = await acquireLease(store, chat, ms * 100)
    const appended = store.append(lease, 0, turnWith(data), { release: true })
    data.fill(0)
    await appended
    checkEqual(imagesIn(await other.load(chat)), [bytesOf(270_000)], 'Later changes by the caller have no effect')
  },

  async 'knows a turn with an image again after the lease was lost'(bench) {
    const { store, lease: ms } = bench
    const lease = await acquireLease(store, chat, ms * 100)
    await store.append(lease, 0, turnWith(bytesOf(270_000)), { release: true })
    await acquireLease(store, chat, ms * 100)
    const again = await store.append(lease, 0, turnWith(bytesOf(270_000))).then(() => undefined, show)
    checkEqual(again, undefined, 'append() of a turn that is stored changes nothing, also without the lease')
    checkEqual((await store.load(chat))?.version, 1, 'It is appended once')
  },

  async 'keeps an image as long as any session of its owner has it'(bench) {
    const { store, other } = bench
    const [one, two, bob] = [chat, { ...chat, sessionId: 'fork' }, { ...chat, owner: 'bob' }]
    for (const key of [one, two, bob]) await add(bench, key, turnWith(bytesOf(270_000)))
    await store.delete(one)
    checkEqual(imagesIn(await other.load(two)), [bytesOf(270_000)], 'A fork keeps the images that it has')
    await store.delete(two)
    await add(bench, two, turnWith(bytesOf(270_000)))
    checkEqual(imagesIn(await other.load(two)), [bytesOf(270_000)], 'An image that was deleted can be stored again')
    await store.erase({ tenant: chat.tenant, owner: chat.owner })
    checkEqual(await other.load(two), undefined, 'Erased data is gone')
    checkEqual(imagesIn(await other.load(bob)), [bytesOf(270_000)], 'Another owner keeps the same image')
  },

  async 'stores the same image for many sessions that run and end at once'(bench) {
    const { store, other } = bench
    const keys = Array.from({ length: 6 }, (_, i) => ({ ...chat, sessionId: `chat ${i}` }))
    await Promise.all(keys.map((key) => add(bench, key, turnWith(bytesOf(270_000)))))
    const [kept, ...gone] = keys as [typeof chat]
    const later = { ...chat, sessionId: 'later' }
    await Promise.all([...gone.map((key) => store.delete(key)), add(bench, later, turnWith(bytesOf(270_000)))])
    for (const key of [kept, later])
      checkEqual(imagesIn(await other.load(key)), [bytesOf(270_000)], 'Each session has the whole image')
  },

  async 'gives a consumer the images of a record as they were recorded, also once their session is gone'(bench) {
    const { store, other, wait, lease: ms } = bench
    const values = largeValues()
    const records = values.map((data, i) => ({ id: `r${i}`, topic: 'seen', data: { data, again: data }, at: i }))
    for (const [i, id] of ['one', 'two'].entries())
      await add(
        bench,
        { ...chat, sessionId: id },
        {
          ...turnOf(id),
          records: i === 0 ? records : records.slice(0, 1).map((record) => ({ ...record, id: 'other' })),
        },
      )
    await store.delete({ ...chat, sessionId: 'one' })
    const datas = (taken: readonly { data: unknown }[]) => taken.map(({ data }) => data)
    const again = await other.outbox.claim('bills', 100, ms)
    checkEqual(datas(again), datas([...records, ...records.slice(0, 1)]), 'A record has every value unchanged')
    await other.outbox.done(
      'bills',
      records.map(({ id }) => id),
    )
    await wait(ms * 2)
    const rest = await other.outbox.claim('bills', 100, ms)
    checkEqual(datas(rest), datas(records.slice(0, 1)), 'also once another record with the same image is done')
  },

  async 'does not store an image of a run that was deleted meanwhile'(bench) {
    const { store, other, lease: ms } = bench
    const lease = await acquireLease(store, chat, ms * 100)
    const appended = store.append(lease, 0, turnWith(bytesOf(1_000_000)))
    await Promise.allSettled([appended, store.delete(chat)])
    checkEqual(await other.load(chat), undefined, 'A session that was deleted while an image was written stays deleted')
  },
}

/** Returns the same bytes for the same size. They do not compress well. */
export function bytesOf(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  for (let i = 0, seed = size; i < size; i++) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    bytes[i] = seed >>> 24
  }
  return bytes
}

type Data = Uint8Array | URL | string

/** Returns values with sizes around a store's limits, and texts that are almost base64. */
export function largeValues(): [Data, ...Data[]] {
  const base64 = base64Of(bytesOf(270_000))
  return [
    bytesOf(270_000),
    ...[4095, 4096, 262_139, 262_140, 262_141].map(bytesOf),
    new Uint8Array(8192),
    base64,
    `data:image/png;base64,${base64}`,
    new URL(`data:image/png;base64,${base64Of(bytesOf(5000))}`),
    base64.replaceAll('+', '-').replaceAll('/', '_'),
    base64.replace(/.{76}/g, '$&\r\n'),
    `${base64}=`,
    `${base64.slice(0, -3)}`,
    `${base64Of(bytesOf(262_139))}${base64}`,
    `${base64}é`,
    `${base64}\ud800\u0000`,
    `data:text/plain,${'a b'.repeat(5000)}`,
  ]
}

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

export function turnWith(...values: [Data, ...Data[]]): StoredTurn {
  const parts = (): Part[] => values.map((data) => ({ type: 'image', data, mediaType: 'image/png' }))
  const [first] = values
  const messages: Message[] = [
    { role: 'user', content: parts() },
    { role: 'assistant', content: [{ type: 'tool-call', callId: 'c1', name: 'look', args: { data: String(first) } }] },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', callId: 'c1', name: 'look', content: [{ type: 'file', data: first, mediaType: 'a/b' }] },
      ],
    },
  ]
  const records = values.length === 1 ? [] : [{ id: 'r1', topic: 'seen', data: { first }, at: 1 }]
  return storedTurn({
    turnId: 'look',
    messages,
    records,
    rest: { state: { seen: new Map([['last', values.at(-1)]]) } },
  })
}

export function imagesIn(stored: Awaited<ReturnType<StoreBench['store']['load']>>): unknown[] {
  const [question] = stored?.history ?? []
  return typeof question?.content === 'object'
    ? question.content.map((part) => (part.type === 'image' ? part.data : undefined))
    : []
}
