import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../../../e2e/free-port.ts'

/** A Redis of a test file. */
export interface Server {
  url: string
  /** Forgets all that it has; absent where it is not ours. */
  flush?(): Promise<unknown>
  end(): Promise<void>
}

/** That of `REDIS_URL`, else one of our own, which keeps nothing on a disk; undefined where there is none. */
export async function anyServer(url = process.env.REDIS_URL): Promise<Server | undefined> {
  return url === undefined ? await ownServer() : { url, end: async () => {} }
}

/** One of our own, which may be flushed. */
export async function ownServer(): Promise<Server | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const port = await freePort()
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp']
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  const url = `redis://127.0.0.1:${port}`
  await answers(url, child)
  const client = new Redis(url)
  return {
    url,
    flush: () => client.flushall(),
    async end() {
      client.disconnect()
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => {})
    try {
      await client.connect()
      return
    } catch (error) {
      if (child.exitCode !== null) throw error
      await sleep(20)
    } finally {
      client.disconnect()
    }
  }
}
