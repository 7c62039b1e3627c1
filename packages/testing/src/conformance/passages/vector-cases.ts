import type { SessionKey } from '@allium/core'
import type { NewPassageVector } from '@allium/store'
import { checkEqual, checkRejects } from '../check.ts'
import { chat } from '../store/bench.ts'
import { type PassageBench, type PassageCases, type PassageStoreParts, say, scopeOf } from './passage-bench.ts'

const [small, large] = ['openai/small', 'openai/large']

/** Cases: vectors belong to their passages. */
export const vectorCases: PassageCases = {
  async 'keeps the vectors of passages by model, and returns them in the given order'(bench) {
    await say(bench, chat, 'tea', 'milk')
    await put(bench, small, [0, [1, -128, 127]], [2, [4, 5, 6]])
    checkEqual(await vectorsAt(bench.other, small, 2, 1, 0, 9), ['2: 4,5,6', '0: 1,-128,127'], 'vectors()')
    checkEqual(await vectorsAt(bench.other, large, 0, 1, 2), [], 'vectors() of another model')
    await put({ ...bench, ...bench.other }, large, [0, [7]])
    checkEqual(await vectorsAt(bench, small, 0, 2), ['2: 4,5,6'], 'A vector takes the place of that of another model')
    checkEqual(await vectorsAt(bench, large, 0, 2), ['0: 7'], 'vectors() of the newer model')
  },

  async 'stores no vector for a passage that is gone or was replaced meanwhile'(bench) {
    await say(bench, chat, 'tea', 'milk')
    const read = await bench.passages.read(scopeOf(chat), placesOf(chat, 0, 2))
    const late: NewPassageVector[] = read.map((one) => ({ ...one, vector: Int8Array.of(1) }))
    await say(bench, chat, ['coffee', { from: 2 }])
    await bench.passages.putVectors(scopeOf(chat), small, late)
    checkEqual(await vectorsAt(bench, small, 0, 1, 2, 3), ['0: 1'], 'Only the passage that stayed has its vector')
    await bench.sessions.delete(chat)
    await bench.passages.putVectors(scopeOf(chat), small, late)
    await say(bench, chat, 'tea', 'milk')
    checkEqual(await vectorsAt(bench.other, small, 0, 1, 2, 3), [], 'None is left of the deleted session')
  },

  async 'deletes vectors with their passages: by an edit, a session, an erasure'(bench) {
    const remove: Readonly<Record<string, () => Promise<unknown>>> = {
      'an edit': () => say(bench, chat, ['tea', { from: 0 }]),
      'delete()': () => bench.sessions.delete(chat),
      'erase()': () => bench.sessions.erase({ tenant: chat.tenant, owner: chat.owner }),
    }
    for (const [what, run] of Object.entries(remove)) {
      await say(bench, chat, ['tea', { from: 0, turnId: `before ${what}` }])
      await put(bench, small, [0, [1]], [1, [2]])
      await run()
      await bench.wait(bench.lease)
      await say(bench, chat, ['tea', { from: 0, turnId: `after ${what}` }])
      checkEqual(await vectorsAt(bench.other, small, 0, 1), [], `vectors() after ${what}`)
    }
  },

  async 'moves the vectors of a session whose agent was renamed'(bench) {
    await say(bench, chat, 'tea')
    await put(bench, small, [1, [3, 4]])
    const renamed = { ...chat, agent: 'renamed' }
    await bench.other.sessions.rename(renamed, [chat.agent])
    checkEqual(await vectorsAt(bench, small, 0, 1), [], 'vectors() under the former name')
    checkEqual(await vectorsOf(bench.other, renamed, small, 0, 1), ['1: 3,4'], 'vectors() under the new name')
  },

  async 'neither reads nor writes the vectors of another tenant, owner or agent'(bench) {
    const others: SessionKey[] = [
      { ...chat, tenant: 'globex' },
      { ...chat, owner: 'bob' },
      { ...chat, agent: 'other' },
    ]
    for (const key of [chat, ...others]) await say(bench, key, 'tea')
    await put(bench, small, [0, [1]])
    const mine = (await bench.passages.read(scopeOf(chat), placesOf(chat, 1))).map((one) => ({
      ...one,
      vector: Int8Array.of(2),
    }))
    for (const key of others) {
      const where = `${key.tenant}/${key.owner}/${key.agent}`
      checkEqual(await vectorsOf(bench.other, key, small, 0, 1), [], `vectors() of ${where}`)
      await bench.passages.putVectors(scopeOf(key), small, mine)
      checkEqual(await vectorsOf(bench.other, key, small, 0, 1), ['1: 2'], `vectors() of ${where} after its own`)
    }
    checkEqual(await vectorsAt(bench.other, small, 0, 1), ['0: 1'], 'and theirs changed none here')
  },

  async 'rejects vectors out of bounds, and stores none then'(bench) {
    await say(bench, chat, 'tea')
    const [one] = await bench.passages.read(scopeOf(chat), placesOf(chat, 0))
    const good = { ...(one as NonNullable<typeof one>), vector: Int8Array.of(1) }
    const bad: readonly unknown[] = [
      [good, { ...good, vector: new Int8Array(0) }],
      [{ ...good, vector: new Int8Array(8193) }],
      [{ ...good, vector: [1] }],
      [{ ...good, index: -1 }],
      Array(1001).fill(good),
    ]
    for (const vectors of bad)
      await checkRejects(
        bench.passages.putVectors(scopeOf(chat), small, vectors as NewPassageVector[]),
        'options.invalid',
        'putVectors()',
      )
    await checkRejects(
      bench.passages.putVectors(scopeOf(chat), 'a\0', [good]),
      'store.key',
      'putVectors() by such a model',
    )
    await checkRejects(bench.passages.vectors(scopeOf(chat), [], 'a\0'), 'store.key', 'vectors() by such a model')
    checkEqual(await vectorsAt(bench, small, 0), [], 'Nothing was stored')
  },
}

const placesOf = ({ sessionId }: SessionKey, ...positions: number[]) =>
  positions.map((position) => ({ sessionId, position }))

/** Stores vectors for passages of the chat. */
async function put(bench: PassageBench, model: string, ...vectors: [position: number, vector: number[]][]) {
  const read = await bench.passages.read(scopeOf(chat), placesOf(chat, ...vectors.map(([position]) => position)))
  const given = read.map((one, i) => ({ ...one, vector: Int8Array.from(vectors[i]?.[1] ?? []) }))
  await bench.passages.putVectors(scopeOf(chat), model, given)
}

/** Reads vectors, as `position: bytes`. */
async function vectorsOf({ passages }: PassageStoreParts, key: SessionKey, model: string, ...positions: number[]) {
  const found = await passages.vectors(scopeOf(key), placesOf(key, ...positions), model)
  return found.map(({ position, vector }) => `${position}: ${[...vector]}`)
}

const vectorsAt = (parts: PassageStoreParts, model: string, ...positions: number[]) =>
  vectorsOf(parts, chat, model, ...positions)
