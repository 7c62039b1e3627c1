import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionStore } from '@allium/store'
import { expect } from 'vitest'
import type { Reads } from '../../../store-sqlite/test/count-reads.ts'
import { fillImages, fillTurns } from './fill.ts'
import { routeRequests } from './routes.ts'
import { serverOf } from './server.ts'

/** Returns the costs of the requests of each route, for a session of so many turns. @param take the reads since its last call */
export async function costsOf(
  sessions: SessionStore,
  take: () => Reads,
  { id, turns }: { id: string; turns: number },
): Promise<Map<string, Reads>> {
  await (id === 'images' ? fillImages : fillTurns)(sessions, id, turns)
  const { fetch } = serverOf(sessions)
  const costs = new Map<string, Reads>()
  for (const { route, path, body, status = 200 } of routeRequests(id, turns)) {
    take()
    const headers = { authorization: 'acme/ann', 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(new Request(`http://x${path}`, init))
    await response.arrayBuffer()
    expect([path, response.status]).toEqual([path, status])
    const { statements = 0, bytes = 0 } = costs.get(route) ?? {}
    const taken = take()
    costs.set(route, { statements: Math.max(statements, taken.statements), bytes: Math.max(bytes, taken.bytes) })
  }
  return costs
}

/** The rows of the table in docs/reliability.md: route, statements, and kB for the session of many turns and for that of images. */
export const documented = [...tableText().matchAll(/^\| `(.*?)` \| (\S*) \| (\S*) \| (\S*) \|/gm)].map(
  ([, route = '', statements, turns, images]) => ({ route, statements, turns, images }),
)

export function expectDocumented(costs: ReadonlyMap<string, Reads>, id: 'turns' | 'images'): void {
  for (const { route, ...limits } of documented) {
    const { statements, bytes } = costs.get(route) ?? { statements: 0, bytes: 0 }
    if (!Number.isNaN(Number(limits.statements)))
      expect([route, statements]).toEqual([route, Number(limits.statements)])
    if (!Number.isNaN(Number(limits[id]))) expect([route, bytes <= Number(limits[id]) * 1000]).toEqual([route, true])
  }
}

function tableText(): string {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/reliability.md'), 'utf8')
  return page.split('### Cost of a read')[1]?.split('\n### ')[0] ?? ''
}
