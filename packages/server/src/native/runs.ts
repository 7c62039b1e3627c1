import { type Decision, isAlliumError, type SessionKey, toJson } from '@allium/core'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { refuse, tell } from '../http/answer.ts'
import { knowsOnly, readObject } from '../http/body.ts'
import { blockedProblem, fail } from '../http/problem.ts'
import type { Pump } from '../run/pump.ts'
import { type Protocol, resumedOf, streamOf } from '../run/reading.ts'
import type { Asked } from '../run/runs.ts'
import { type Ctx, type Env, keyOf, visit } from '../visit.ts'
import { inputOf } from './input.ts'
import { isThere } from './is-there.ts'
import { nativeFrames, placeOf } from './stream.ts'

const protocol: Protocol = { frames: nativeFrames }

/** The routes by which a run begins, is followed and is stopped. */
export function runRoutes(app: Hono<Env>, host: Host, at: string): void {
  app.post(`${at}/sessions/:id/runs`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const body = await readObject(c.req.raw, host.maxBody)
    knowsOnly(body, ['input'])
    return run(c, { ...asks, input: inputOf(body.input), ...keyIn(c) })
  })

  app.post(`${at}/sessions/:id/decisions`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const body = await readObject(c.req.raw, host.maxBody)
    knowsOnly(body, ['decisions'])
    await isThere(host, keyOf(asks, c.req.param('id')))
    return run(c, { ...asks, decisions: body.decisions as Record<string, Decision>, ...keyIn(c) })
  })

  app.get(`${at}/sessions/:id/events`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const key = keyOf(asks, c.req.param('id'))
    const stream = await resumedOf(host, key, placeOf(c.req.header('last-event-id')), protocol)
    return stream ?? c.body(null, 204)
  })

  app.post(`${at}/sessions/:id/stop`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const key = keyOf(asks, c.req.param('id'))
    if (await stop(host, key)) return c.json({ stopped: true }, 202)
    await isThere(host, key)
    throw fail('run.not_running', 'Nothing runs in this session.')
  })

  async function run(c: Ctx, asked: Omit<Asked, 'sessionId'>): Promise<Response> {
    const pump = await host.runs.begin({ ...asked, sessionId: c.req.param('id') as string })
    if (!c.req.header('accept')?.includes('text/event-stream')) return whole(c, pump)
    const stream = await streamOf(host, pump, protocol)
    if (stream instanceof Response) return stream
    tell(c, stream, host.logger)
    return refuse(c, stream)
  }

  /** The answer at once, when it is there. */
  async function whole(c: Ctx, pump: Pump): Promise<Response> {
    const { signal } = c.req.raw
    let joined = true
    const leave = () => {
      if (joined) pump.leave()
      joined = false
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      return answer(c, await resultOf(pump))
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }

  function answer(c: Ctx, result: Answer): Response {
    const problem = blockedProblem(result as Record<string, unknown>)
    if (problem !== undefined) return refuse(c, problem)
    return c.body(toJson(result), 200, { 'content-type': 'application/json' })
  }
}

/** Asks the session's last run to stop, in whichever process it is; false where nothing runs. */
export async function stop({ events }: Host, key: SessionKey): Promise<boolean> {
  const latest = await events.latest(key)
  if (latest === undefined || latest.ended) return false
  return events.signal({ key, turnId: latest.turnId }, { stop: true })
}

/** What a run came to, as a client is told it. */
export interface Answer {
  sessionId: string
  turnId: string
  status: string
  text: string
  [field: string]: unknown
}

/** A run that was stopped has an answer too: what there was of it. */
async function resultOf(pump: Pump): Promise<Answer> {
  try {
    const { sessionId, turnId, status, text, reason, code, retryAfter, usage, pending, resumes } = await pump.result
    return { sessionId, turnId, status, text, reason, code, retryAfter, usage, pending, resumes }
  } catch (error) {
    const { name, partial } = error as { name?: unknown; partial?: { text: string; usage: unknown; turnId?: string } }
    if (name !== 'AbortError' || isAlliumError(error) || partial?.turnId === undefined) throw error
    const { text, usage, turnId } = partial
    return { sessionId: pump.key.sessionId, turnId, status: 'aborted', text, usage, pending: [] }
  }
}

function keyIn(c: Ctx): { idempotencyKey?: string } {
  const idempotencyKey = c.req.header('idempotency-key')
  if (idempotencyKey === undefined) return {}
  if (idempotencyKey.length > 0 && idempotencyKey.length <= 256) return { idempotencyKey }
  throw fail('request.invalid', 'The header `idempotency-key` has 1 to 256 characters.')
}
