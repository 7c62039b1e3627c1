import { once } from 'node:events'
import { createServer } from 'node:net'
import { threadId } from 'node:worker_threads'

const first = 10_000 + ((process.pid + threadId) % 200) * 100
let count = 0

/**
 * Returns a port that is free on 127.0.0.1. Outgoing connections get theirs from a higher range, so none of them takes it before a server
 * does, and each process has a hundred ports of its own.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (count++ % 100)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
