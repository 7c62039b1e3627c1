import { setTimeout as sleep } from 'node:timers/promises'
import type { Model } from '@allium/core'

/** As many texts as the input says, a pause in milliseconds before each, and how long they are: `1200x50`, `600x0x20000`. */
export async function* textsOf(input: string): AsyncGenerator<string> {
  const [count = 1, pause = 0, length = 0] = input.split('x').map(Number)
  for (let at = 0; at < count; at++) {
    if (pause > 0) await sleep(pause)
    yield `word ${at} `.padEnd(length, 'x')
  }
}

export const mockModel: Model = {
  id: 'mock',
  async *stream({ messages }) {
    const asked = messages.at(-1)?.content
    for await (const delta of textsOf(typeof asked === 'string' ? asked : '1x0')) yield { type: 'text-delta', delta }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 10 } }
  },
}
