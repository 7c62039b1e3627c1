import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { durableRestate } from '../../../durable-restate/src/index.ts'
import { ownServer } from '../../../durable-restate/test/server.ts'
import { every } from '../../../store-postgres/test/chaos/bad-servers.ts'
import type { Engine } from './engine.ts'
import { type Place, principal } from './scene.ts'
import { type Client, insisted } from './turns.ts'

/** `durableRestate()`, with a Restate of one's own; its processes keep their sessions and their money in one file. */
export async function onRestate(folder: string, lease: number): Promise<Engine> {
  const [server, door] = [await ownServer(), await oneDoor()]
  const place: Place = {
    kind: 'sqlite',
    at: join(folder, 'restate.db'),
    schema: '',
    notes: join(folder, 'restate.notes'),
    lease,
  }
  let registered: Promise<void> | undefined
  return {
    name: 'restate',
    place,
    worker: join(import.meta.dirname, 'restate-worker.ts'),
    slowest: undefined,
    begun(child) {
      const end = once(child, 'message').then(([{ port }]) => {
        const leave = door.add(port)
        child.once('exit', leave)
        registered ??= server.register(door.port)
      })
      end.catch(() => {})
    },
    client: () => restateClient(server.ingress, () => registered),
    crashing() {
      const over = new AbortController()
      const crashed = every(5000, over.signal, server.crash)
      return {
        async end() {
          over.abort()
          return { restarts: await crashed }
        },
      }
    },
    async end() {
      await door.close()
      await server.stop()
    },
  }
}

/** Asks Restate, and again while it is away. */
function restateClient(ingress: string, registered: () => Promise<void> | undefined): Client {
  const runs = durableRestate(new Agent({ name: 'desk', model: scriptedModel([]) }), { ingress, name: 'desk' })
  const result = (run: string) => insisted(() => runs.attach(run, { principal }))
  return {
    async start(options) {
      await registered()
      const { input, decisions, sessionId, idempotencyKey } = options
      const task = {
        principal,
        sessionId: sessionId as string,
        idempotencyKey,
        ...(decisions ? { decisions } : { input }),
      }
      return (await insisted(() => runs.start(task as never))).run
    },
    // Restate has no event log: its readers get the result.
    read: async (run) => ({ text: (await result(run)).text, ends: 1 }),
    get: result,
  }
}

/** One port for all processes, as a load balancer has it. */
async function oneDoor() {
  const ports: number[] = []
  let turn = 0
  const door = createServer((socket) => {
    const port = ports[turn++ % ports.length]
    if (port === undefined) return socket.destroy()
    const onward = connect(port, '127.0.0.1')
    for (const [one, other] of [[socket, onward] as const, [onward, socket] as const]) {
      one.pipe(other)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  return {
    port: (door.address() as AddressInfo).port,
    /** Gives what takes the port away again. */
    add(port: number) {
      ports.push(port)
      return () => void ports.splice(ports.indexOf(port), 1)
    },
    async close() {
      door.close()
    },
  }
}
