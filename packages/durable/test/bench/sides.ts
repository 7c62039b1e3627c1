import { join } from 'node:path'
import { Agent, type Model, type ModelRequest } from '@allium/core'
import { persist } from '@allium/memory'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { durableRestate } from '../../../durable-restate/src/index.ts'
import { ownServer as ownRestate, serveHere } from '../../../durable-restate/test/server.ts'
import { postgres } from '../../../store-postgres/src/index.ts'
import { anyServer } from '../../../store-postgres/test/server.ts'
import { durable } from '../../src/index.ts'

/** The calls of the model in a short turn and in a long one; each but the last has a tool. */
export const calls = { short: 1, long: 26 }
/** That the long one has more, calls and tools. */
export const steps = 2 * (calls.long - calls.short)

/** What records the steps of a turn. */
export interface Side {
  readonly name: string
  /** Runs a turn of so many calls to its end, in a session of its own. */
  turn(session: string, calls: number): Promise<void>
  end(): Promise<void>
}

function agent(): Agent {
  const note = { name: 'note', description: 'Notes', jsonSchema: { type: 'object' }, execute: () => 'noted' }
  const step = ({ messages }: ModelRequest) => {
    const asked = messages.findLastIndex(({ role }) => role === 'user')
    const left = Number(messages[asked]?.content) - (messages.length - 1 - asked) / 2
    return left > 1 ? { toolCalls: [{ name: 'note', callId: `c${left}` }] } : 'Done.'
  }
  const model: Model = { id: 'bench/model', stream: (request) => scriptedModel([step]).stream(request) }
  return new Agent({ version: '1', model, tools: [note], maxSteps: calls.long })
}

export const unrecorded: Side = {
  name: 'without a journal',
  turn: async (_, calls) => check((await agent().run(String(calls))).text),
  async end() {},
}

/** `durable()` in a file. */
export function inSqlite(folder: string): Side {
  const store = sqlite(join(folder, 'bench.db'))
  const side = onStore('SQLite, synchronous = full', store)
  return {
    ...side,
    async end() {
      await side.end()
      store.close()
    },
  }
}

/** `durable()` in Postgres; undefined where there is none for this machine. */
export async function inPostgres(): Promise<Side | undefined> {
  const server = await anyServer()
  if (server === undefined) return undefined
  const store = postgres({ url: server.url, schema: `bench_${process.pid}` })
  await store.ready()
  const side = onStore('Postgres', store)
  return {
    ...side,
    async end() {
      await side.end()
      await store.close()
      await server.end()
    },
  }
}

function onStore(name: string, store: Pick<SqliteStore, 'sessions' | 'runs' | 'events'>): Side {
  const kept = agent().use(persist({ store: store.sessions })) as Agent
  const runs = durable(kept, { store })
  return {
    name,
    async turn(sessionId, calls) {
      const { run } = await runs.start({ sessionId, input: String(calls) })
      for await (const _ of runs.attach(run, {}));
      check((await runs.get(run, {})).text)
    },
    end: () => runs.drain(),
  }
}

/** `durableRestate()` beside a Restate of one's own. */
export async function inRestate(): Promise<Side> {
  const server = await ownRestate()
  const runs = durableRestate(agent(), { ingress: server.ingress, name: 'bench' })
  const endpoint = await serveHere([runs.object])
  await server.register(endpoint.port)
  return {
    name: 'Restate',
    async turn(sessionId, calls) {
      const { run } = await runs.start({ sessionId, input: String(calls) })
      check((await runs.attach(run, {})).text)
    },
    async end() {
      await endpoint.close()
      await server.stop()
    },
  }
}

/** All sides do the same work. */
function check(text: string | undefined): void {
  if (text !== 'Done.') throw new Error(`A turn ended with "${text}".`)
}
