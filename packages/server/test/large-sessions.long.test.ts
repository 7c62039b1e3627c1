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
/** `npm run large` asks each route alone. CI does so with those that hold the most memory, and with all of them beside each other. */
const everyRoute = process.env.ALLIUM_EVERY_ROUTE !== undefined
const holdsMuch = /^\/sessions\/images\/(messages$|files|fork)/

let folder = ''
let worker = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'allium-large-sessions-'))
  worker = await bundled(join(import.meta.dirname, 'large-sessions/child.ts'), folder)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A server in a process with a small heap. */
async function serverWith(kind: string, inspect: boolean) {
  const args = [kind, join(folder, `${kind}-${inspect}.db`), String(turns), String(images), String(inspect)]
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

const stored = [['turns', turns] as const, ['images', images] as const]
const reads = stored.flatMap(([id, count]) => routeRequests(id, count))
const runs = stored.flatMap(([id]) => runRequests(id))

test.each([
  ['sqlite', 'reads', reads],
  ['memory', 'reads', reads],
  ['sqlite', 'runs', runs],
  ['memory', 'runs', runs],
] as const)(
  'a heap of 384 MB outlives 60 requests at once to any route: %s, %s',
  async (kind, what, requests) => {
    const { child, url } = await serverWith(kind, what === 'reads')
    /** Sends them all at once. Only one run of a session is active, and 16 wait. */
    const drive = async (burst: readonly RouteRequest[]) => {
      const statuses = await Promise.all(burst.map((request) => statusOf(url, request)))
      const wrong = statuses.flatMap((status, i) => {
        const { route, path, status: expected = 200 } = burst[i] as RouteRequest
        const isRefused = status === 429 || (what === 'runs' && status === 409)
        return status === expected || isRefused ? [] : [{ route, path, status }]
      })
      expect({ ended: hasEnded(child), wrong }).toEqual({ ended: false, wrong: [] })
    }
    const alone = requests.filter(({ path }) => everyRoute || holdsMuch.test(path))
    for (const request of alone) await drive(Array.from({ length: atOnce }, () => request))
    await drive(Array.from({ length: atOnce }, (_, n) => requests[n % requests.length] as RouteRequest))
  },
  600_000,
)
