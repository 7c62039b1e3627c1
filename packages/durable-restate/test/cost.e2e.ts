import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { durableRestate } from '../src/index.ts'
import { ownServer, serveHere } from './server.ts'

const turns = 5
const steps = 50

/** Mean milliseconds of a turn, after a first one that warms up. */
async function meanOf(turn: (i: number) => PromiseLike<unknown>): Promise<number> {
  await turn(0)
  const began = performance.now()
  for (let i = 1; i <= turns; i++) await turn(i)
  return (performance.now() - began) / turns
}

it('tells what a recorded step costs', async () => {
  const server = await ownServer()
  const note = { name: 'note', description: 'Notes', jsonSchema: { type: 'object' }, execute: () => 'noted' }
  const calls = Array.from({ length: steps / 2 }, (_, i) => ({ toolCalls: [{ name: 'note', callId: `c${i}` }] }))
  const script = () => scriptedModel(Array.from({ length: turns + 1 }, () => [...calls, 'Done.']).flat())
  const agent = () => new Agent({ model: script(), tools: [note], maxSteps: steps })
  const durable = durableRestate(agent(), { ingress: server.ingress, name: 'cost' })
  const endpoint = await serveHere([durable.object])
  await server.register(endpoint.port)
  try {
    const bare = agent()
    const direct = await meanOf(() => bare.run('Go'))
    const took = await meanOf(async (i) => {
      const { run } = await durable.start({ sessionId: `s${i}`, input: 'Go' })
      expect((await durable.attach(run, {})).text).toBe('Done.')
    })
    console.log(`restate: ${((took - direct) / (steps + 2)).toFixed(2)} ms a recorded step (${steps + 2} in a turn)`)
  } finally {
    await endpoint.close()
    await server.stop()
  }
}, 60_000)
