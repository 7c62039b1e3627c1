import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http2'
import { createRequire } from 'node:module'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEndpointHandler, type NodeEndpointOptions } from '@restatedev/restate-sdk'
import { freePort } from '../../../e2e/free-port.ts'

export interface Server {
  readonly ingress: string
  /** Tells it of an endpoint. */
  register(port: number): Promise<void>
  /** Returns the rows of its introspection. */
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Kills it, and starts it again with what it has kept. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** A Restate of one's own, empty, in a child process. @param settings environment variables of its configuration */
export async function ownServer(settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const program = createRequire(import.meta.url).resolve('@restatedev/restate-server/lib/index.js')
  const dir = await mkdtemp(join(tmpdir(), 'restate-'))
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()]
  // One that was killed may hold its files and ports for a moment.
  const begin = async (tries = 20): Promise<(signal: NodeJS.Signals) => Promise<void>> => {
    // In a group of its own: the program of npm is a parent of the server.
    const child = spawn(process.execPath, [program, '--node-name', 'test'], {
      stdio: 'ignore',
      detached: true,
      env: {
        ...process.env,
        RESTATE_BASE_DIR: dir,
        RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
        RESTATE_DISABLE_TELEMETRY: 'true',
        ...settings,
      },
    })
    const ended = once(child, 'exit')
    for (const url of [`http://127.0.0.1:${admin}/health`, `http://127.0.0.1:${ingress}/restate/health`])
      while (!(await answers(url))) {
        if (child.exitCode !== null && tries === 0) throw new Error(`Restate ended with ${child.exitCode}`)
        await sleep(20)
        if (child.exitCode !== null) return begin(tries - 1)
      }
    return async (signal: NodeJS.Signals) => {
      process.kill(-(child.pid as number), signal)
      await ended
    }
  }
  let end = await begin()
  return {
    ingress: `http://127.0.0.1:${ingress}`,
    async register(port) {
      const body = JSON.stringify({ uri: `http://127.0.0.1:${port}`, force: true })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`http://127.0.0.1:${admin}/deployments`, { method: 'POST', headers, body })
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    },
    async query(query) {
      const headers = { 'content-type': 'application/json', accept: 'application/json' }
      const body = JSON.stringify({ query })
      const response = await fetch(`http://127.0.0.1:${admin}/query`, { method: 'POST', headers, body })
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
      return ((await response.json()) as { rows: Record<string, unknown>[] }).rows
    },
    async crash() {
      await end('SIGKILL')
      end = await begin()
    },
    async stop() {
      await end('SIGTERM')
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Serves objects until it is closed, cutting what runs. */
export async function serveHere(services: NodeEndpointOptions['services'], port = 0) {
  const server = createServer(createEndpointHandler({ services, logger: () => {} }))
  // Sockets, not sessions: one that has just come has no session yet, and would hold the server open.
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
}
