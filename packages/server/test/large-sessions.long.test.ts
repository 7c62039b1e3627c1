import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { bundled } from '../../store-postgres/test/bundled.ts'
import { ask } from './kit.ts'
import { type RouteRequest, routeRequests, runRequests } from './large-sessions/routes.ts'

/** Requests at once. */
const atOnce = 60
const [turns, images] = [5000, 40]

let folder = ''
let worker = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'allium-large-sessions-'))
  worker = await bundled(join(import.meta.dirname, 'large-sessions/child.ts'), folder)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A server in a process with a small heap. */
async function serverWith(kind: string) {
  const args = [kind, join(folder, `${kind}.db`), String(turns), String(images)]
  const child = fork(worker, args, {
    execArgv: ['--max-old-space-size=384'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  onTestFinished(async () => {
    if (hasEnded(child)) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [{ url }] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('The server ended.'))),
  ])) as [{ url: string }]
  return { child, url }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Sends a request, reads its answer, and returns its status; 0 for a connection that was cut. */
async function statusOf(url: string, { path, body, method }: RouteRequest): Promise<number> {
  try {
    const response = await ask(`${url}${path}`, { body, ...(method !== undefined && { method }) })
    for await (const _ of response.body ?? []);
    return response.status
  } catch {
    return 0
  }
}

test.each(['sqlite', 'memory'])(
  'a heap of 384 MB outlives 60 requests at once to any route, on %s',
  async (kind) => {
    const { child, url } = await serverWith(kind)
    const all = [['turns', turns] as const, ['images', images] as const].flatMap(([id, count]) => [
      ...routeRequests(id, count),
      ...runRequests(id),
    ])
    const wrong: unknown[] = []
    const drive = async (requests: readonly RouteRequest[]) => {
      const statuses = await Promise.all(requests.map((request) => statusOf(url, request)))
      for (const [i, status] of statuses.entries()) {
        const { route, path, status: expected = 200 } = requests[i] as RouteRequest
        if (status !== expected && status !== 429) wrong.push({ route, path, status })
      }
    }
    for (const request of all) {
      await drive(Array.from({ length: atOnce }, () => request))
      expect({ route: request.route, path: request.path, ended: hasEnded(child), wrong }).toMatchObject({
        ended: false,
        wrong: [],
      })
    }
    for (let i = 0; i < all.length; i += 7)
      await drive(Array.from({ length: atOnce }, (_, n) => all[(i + n) % all.length] as RouteRequest))
    expect({ ended: hasEnded(child), wrong }).toEqual({ ended: false, wrong: [] })
  },
  600_000,
)
