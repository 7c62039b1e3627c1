import type { Hono } from 'hono'
import type { Host } from './host.ts'
import { fail } from './http/problem.ts'
import type { Env } from './visit.ts'

/** The routes for who runs the server. */
export function healthRoutes(app: Hono<Env>, { runs, metrics, options }: Host): void {
  app.get('/healthz', (c) => c.json({ ok: true }))

  app.get('/readyz', (c) => (runs.draining ? c.json({ ok: false }, 503) : c.json({ ok: true })))

  app.get('/openapi.json', async (c) => {
    const { openapi } = await import('./native/openapi.ts')
    return c.json(openapi(options.base ?? '/'))
  })

  app.get('/metrics', (c) => {
    const { token } = options.metrics ?? {}
    if (token === undefined) return c.notFound()
    if (!sameText(c.req.header('authorization') ?? '', `Bearer ${token}`))
      throw fail('request.principal', 'The path /metrics needs its own token, as a bearer.')
    return c.text(metrics.text(runs.size), 200, { 'content-type': 'text/plain; version=0.0.4' })
  })
}

/** Takes as long for every text of one length. */
function sameText(given: string, wanted: string): boolean {
  let differs = given.length ^ wanted.length
  for (let at = 0; at < given.length; at++) differs |= given.charCodeAt(at) ^ wanted.charCodeAt(at % wanted.length)
  return differs === 0
}
