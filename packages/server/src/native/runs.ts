import { type Decision, type RunKey, type SessionKey, toJson } from '@allium/core'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { refusing } from '../http/answer.ts'
import { knowsOnly, readObject } from '../http/body.ts'
import { blockedProblem, fail, type Problem } from '../http/problem.ts'
import type { Asked } from '../run/asked.ts'
import { askedOutput } from '../run/asked-output.ts'
import { jsonIn } from '../run/json-answer.ts'
import { type Protocol, resumedOf, streamOf } from '../run/reading.ts'
import { resultOf } from '../run/result.ts'
import { type Ctx, type Env, keyOf, type Visit, visit } from '../visit.ts'
import { fieldsOf } from './bodies.ts'
import { clientToolsOf } from './client-tools.ts'
import { contentOf, inputOf } from './input.ts'
import { isThere } from './is-there.ts'
import { nativeFrames, placeOf } from './stream.ts'
import { openedPending } from './waiting.ts'

const protocol: Protocol = { frames: nativeFrames }

/** The routes by which a run begins, is followed and is stopped. */
export function runRoutes(app: Hono<Env>, host: Host, at: string): void {
  const refusal = refusing(host)

  app.post(
    `${at}/sessions/:id/runs`,
    refusal(async (c) => {
      const asks = await visit(host, c.req.raw, c.req.param('agent'))
      const body = await readObject(c.req.raw, host.maxBody)
      knowsOnly(body, fieldsOf('run'))
      const output = askedOutput(body.output, 'output')
      const clientTools = clientToolsOf(body.clientTools)
      return run(c, asks, { input: inputOf(body.input), clientTools, output, ...keyIn(c) })
    }),
  )

  app.post(
    `${at}/sessions/:id/decisions`,
    refusal(async (c) => {
      const asks = await visit(host, c.req.raw, c.req.param('agent'))
      const body = await readObject(c.req.raw, host.maxBody)
      knowsOnly(body, fieldsOf('decisions'))
      await isThere(host, keyOf(asks, c.req.param('id') as string))
      const output = askedOutput(body.output, 'output')
      return run(c, asks, { decisions: body.decisions as Record<string, Decision>, output, ...keyIn(c) })
    }),
  )

  app.get(`${at}/sessions/:id/events`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const stream = await resumedOf(host, asks, c.req.param('id'), placeOf(c.req.header('last-event-id')), protocol)
    return stream ?? c.body(null, 204)
  })

  stopRoute(app, host, at, 'sessions')
  steerRoute(app, host, at, 'sessions')

  async function run(c: Ctx, asks: Visit, asked: Partial<Asked>): Promise<Response | Problem> {
    const sessionId = c.req.param('id') as string
    const pump = await host.runs.begin({ ...asks, ...asked, sessionId })
    if (c.req.header('accept')?.includes('text/event-stream')) return streamOf(host, asks, pump, protocol)
    const result = await resultOf(pump, c.req.raw.signal)
    const pending = await openedPending(host, asks, sessionId, result.pending)
    const output = asked.output && result.status === 'completed' ? { output: jsonIn(result.text) } : {}
    const told = toJson({ ...result, ...output, pending })
    return blockedProblem(result) ?? c.body(told, 200, { 'content-type': 'application/json' })
  }
}

/** The route that stops what runs in a session. */
export function stopRoute(app: Hono<Env>, host: Host, at: string, where: 'sessions' | 'chat'): void {
  app.post(`${at}/${where}/:id/stop`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const key = keyOf(asks, c.req.param('id') as string)
    if (await stop(host, asks, key)) return c.json({ stopped: true }, 202)
    await isThere(host, key)
    throw fail('run.not_running', 'Nothing runs in this session.')
  })
}

/** The route by which a message reaches the run that goes on; what became of it comes in that run's stream, by its id. */
export function steerRoute(app: Hono<Env>, host: Host, at: string, where: 'sessions' | 'chat'): void {
  app.post(`${at}/${where}/:id/steer`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const body = await readObject(c.req.raw, host.maxBody)
    knowsOnly(body, fieldsOf('steer'))
    const { message, id = crypto.randomUUID() } = body
    if (typeof id !== 'string' || id === '' || id.length > 256)
      throw fail(
        'request.invalid',
        'The field `id` is a text of 1 to 256 characters, by which events name the message.',
      )
    const key = keyOf(asks, c.req.param('id') as string)
    const steer = { steer: contentOf(message, 'message'), id }
    const run = await goingOn(host, key)
    if (run !== undefined && (await host.events.signal(run, steer))) return c.json({ id }, 202)
    await isThere(host, key)
    throw fail('run.not_running', 'Nothing runs in this session: ask it as the next input.')
  })
}

/** Asks the session's last run to stop, in whichever process it is; false where nothing runs. */
export async function stop(host: Host, asks: Visit, key: SessionKey): Promise<boolean> {
  const run = await goingOn(host, key)
  return run !== undefined && host.runs.stop(run, asks)
}

async function goingOn({ events }: Host, key: SessionKey): Promise<RunKey | undefined> {
  const latest = await events.latest(key)
  return latest === undefined || latest.ended ? undefined : { key, turnId: latest.turnId }
}

function keyIn(c: Ctx): { idempotencyKey?: string } {
  const idempotencyKey = c.req.header('idempotency-key')
  if (idempotencyKey === undefined) return {}
  if (idempotencyKey.length > 0 && idempotencyKey.length <= 256) return { idempotencyKey }
  throw fail('request.invalid', 'The header `idempotency-key` has 1 to 256 characters.')
}
