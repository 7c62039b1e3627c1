import { Agent } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { breakAt, cutAt, wireServer } from './wire-server.ts'
import { type Wire, wires } from './wires.ts'

const atOnce = 24

describe.each(wires)('$name, cut before the answer is whole', (wire) => {
  it.each([
    ['in good order, at every byte', cutAt, 1],
    ['by a broken socket, at every fifth byte', breakAt, 5],
  ])(
    '%s: no run succeeds, and no tool runs',
    async (_, cut, every) => {
      const { body, length } = whole(wire)
      const answers = Array.from({ length: Math.ceil(length / every) }, (_, i) => cut(body, i * every))
      const { url } = await wireServer(...answers)
      const ran: unknown[] = []
      const add = { name: 'add', description: 'Adds', jsonSchema: {}, execute: (args: unknown) => ran.push(args) }
      const agent = new Agent({ model: wire.model(url), tools: [add], logger: { warn() {}, error() {} } })
      let failed = 0
      const runAll = async () => {
        while (started < answers.length) {
          started++
          const session = agent.session()
          const error = await session.run('1 + 2?').then(undefined, (error) => error)
          if (error instanceof Error && session.pending.length === 0) failed++
        }
      }
      let started = 0
      await Promise.all(Array.from({ length: atOnce }, runAll))
      expect([failed, ran]).toEqual([answers.length, []])
    },
    120_000,
  )
})

/** The answer, and how many of its bytes are not yet all of it. */
function whole({ events, enough }: Wire): { body: string; length: number } {
  // The last event of what is enough is read at its first newline.
  return { body: events.join(''), length: Buffer.byteLength(events.slice(0, enough).join('')) - 1 }
}
