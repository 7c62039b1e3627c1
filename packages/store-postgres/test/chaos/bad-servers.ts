import { setTimeout as sleep } from 'node:timers/promises'
import type { Server as Redis } from '../../../store-redis/test/server.ts'
import type { Server } from '../server.ts'

/** Stops Postgres every 5 s as a crash does, and starts it again; flushes Redis every second. Until `end()`, which tells how often. */
export function badServers(postgres: Required<Server> | undefined, redis: Redis | undefined) {
  const over = new AbortController()
  const restarting = postgres === undefined ? 0 : every(5000, over.signal, () => restarted(postgres))
  const flushing = redis?.flush === undefined ? 0 : every(1000, over.signal, redis.flush)
  return {
    async end() {
      over.abort()
      const [restarts, flushes] = [await restarting, await flushing]
      return { restarts, flushes }
    },
  }
}

async function restarted(server: Required<Server>): Promise<void> {
  await server.crash()
  await sleep(200)
  await server.start()
}

/** Acts, waits so many milliseconds, and acts again, until `signal`; gives how often it has. */
export async function every(ms: number, signal: AbortSignal, act: () => Promise<unknown>): Promise<number> {
  for (let times = 0; ; times++) {
    await act()
    await sleep(ms, undefined, { signal }).catch(() => {})
    if (signal.aborted) return times + 1
  }
}
