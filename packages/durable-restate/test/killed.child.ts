import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type ModelChunk, type ModelRequest } from '@allium/core'
import { durableRestate } from '../src/index.ts'
import { serveHere } from './server.ts'

/** An agent in a process that is killed: each model call and each tool that began, or ended, is a line of a file. */
const [file = '', port = '0', ingress = '', life = ''] = process.argv.slice(2)
const say = (line: string) => appendFileSync(file, `${line}\n`)
const names = ['a', 'b', 'c', 'd']

async function* stream({ messages }: ModelRequest): AsyncIterable<ModelChunk> {
  const asked = messages.length
  say(`model ${asked}`)
  const usage = { inputTokens: 1, outputTokens: 1, calls: 1 }
  if (messages.at(-1)?.role === 'tool') {
    yield { type: 'text-delta', delta: 'All done.' }
    yield { type: 'finish', reason: 'stop', usage }
    return
  }
  for (const callId of names) {
    yield { type: 'tool-input-start', callId, name: callId }
    yield { type: 'tool-input-delta', callId, delta: '{}' }
    yield { type: 'tool-input-end', callId }
  }
  yield { type: 'finish', reason: 'tool-calls', usage }
}

const tools = names.map((name, i) => ({
  name,
  description: name,
  jsonSchema: { type: 'object' },
  async execute() {
    say(`begin ${name}`)
    // The process that is killed never gets to the end of two of them.
    if (life === 'first' && i < 2) await new Promise(() => {})
    await sleep(100 * (names.length - i))
    say(`end ${name}`)
    return name
  },
}))

const durable = durableRestate(new Agent({ model: { id: 'm', stream }, tools }), { ingress, name: 'killed' })
await serveHere([durable.object], Number(port))
process.send?.('ready')
