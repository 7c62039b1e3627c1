import { join } from 'node:path'
import { badServers } from '../../../store-postgres/test/chaos/bad-servers.ts'
import { ownServer } from '../../../store-postgres/test/server.ts'
import type { Engine } from './engine.ts'
import type { Place } from './scene.ts'
import { storeClient } from './turns.ts'

/** `durable()` with its store alone; undefined where there is no Postgres for this machine. */
export async function onStore(kind: 'sqlite' | 'postgres', folder: string, lease: number): Promise<Engine | undefined> {
  const server = kind === 'postgres' ? await ownServer() : undefined
  if (kind === 'postgres' && server === undefined) return undefined
  const place: Place = {
    kind,
    at: server?.url ?? join(folder, 'chaos.db'),
    schema: `durable_${process.pid}`,
    notes: join(folder, `${kind}.notes`),
    lease,
  }
  return {
    name: kind,
    place,
    worker: join(import.meta.dirname, 'worker.ts'),
    slowest: 1.5,
    begun() {},
    client: (store, crew, random) => storeClient(store, place, { start: (options) => crew.start(options), random }),
    ...(server !== undefined && { crashing: () => badServers(server, undefined) }),
    end: async () => server?.end(),
  }
}
