import { setTimeout as sleep } from 'node:timers/promises'
import type { Model } from '@allium/core'
import { expect, onTestFinished, test } from 'vitest'
import { agentOf, lines, listen, network, open } from './kit.ts'

const words = (count: number) => Array.from({ length: count }, (_, at) => `word-${at}`).join(' ')

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  'nothing is lost or sent twice while the connection is cut again and again (seed %i)',
  async (seed) => {
    const random = randomFrom(seed)
    const answers = [words(40), words(20), words(30)]
    const { model, calls } = paced(answers)
    const { fetch, goOffline, goOnline } = network()
    const chat = open(await listen(agentOf([], { model })), { fetch })
    let cuts = 0
    const trouble = setInterval(
      () => {
        if (chat.state().status === 'streaming' && cuts < 15) {
          cuts++
          goOffline()
        } else goOnline()
        if (chat.state().status === 'failed') chat.store.retry()
      },
      5 + random() * 10,
    )
    onTestFinished(() => clearInterval(trouble))
    for (const text of ['a', 'b', 'c']) chat.store.send(text)
    const expected = ['a', words(40), 'b', words(20), 'c', words(30)]
    await expect.poll(() => lines(chat).map((line) => line.replace(/^\w+: /, ''))).toEqual(expected)
    await expect.poll(() => chat.state()).toMatchObject({ status: 'idle', queue: [], error: undefined })
    expect([calls(), cuts > 3]).toEqual([3, true])
  },
)

/** A model that gives the server time to lose connections: a word every 2 ms. */
function paced(answers: readonly string[]): { model: Model; calls(): number } {
  let calls = 0
  const model: Model = {
    id: 'paced',
    async *stream() {
      for (const delta of (answers[calls++] ?? '').split(/(?<= )/)) {
        await sleep(2)
        yield { type: 'text-delta', delta }
      }
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }
    },
  }
  return { model, calls: () => calls }
}

function randomFrom(seed: number): () => number {
  let state = seed + 0x6d2b79f5
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
