import type { Host, RunReader, Runtime, StoreReader } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { timingSafeEqual } from '../request/caller.ts'
import { pathNotFound } from '../request/not-found.ts'
import { route } from '../request/route.ts'
import type { Router } from '../request/router.ts'
import { optional, text } from '../request/schema.ts'
import { Readiness } from './readiness.ts'

const publicRoute = { method: 'get', ignoresUnknown: true, isPublic: true } as const
const routes = {
  health: route({
    ...publicRoute,
    path: '/healthz',
    summary: 'Check that the process is alive',
    answers: { 200: 'Health' },
  }),
  ready: route({
    ...publicRoute,
    path: '/readyz',
    summary: 'Check that the server accepts new runs',
    answers: { 200: 'Health', 503: 'Health' },
  }),
  document: route({ ...publicRoute, path: '/openapi.json', summary: 'Get this document', isHidden: true }),
  metrics: route({
    method: 'get',
    path: '/metrics',
    summary: 'Get metrics for Prometheus',
    headers: { authorization: optional(text()) },
    isHidden: true,
    ignoresUnknown: true,
  }),
}

/** Adds the routes for operators. */
export function healthRoutes(router: Router, host: StoreReader & RunReader & Runtime & Pick<Host, 'options'>): void {
  const { runs, metrics, options } = host
  const readiness = new Readiness(host)
  const serve = router.mount('')

  serve(routes.health, async (c) => c.json({ ok: true }))

  serve(routes.ready, async (c) => {
    const ok = !runs.draining && (await readiness.check())
    return c.json({ ok }, ok ? 200 : 503)
  })

  serve(routes.document, async (c) => {
    const { openapi } = await import('../native/openapi.ts')
    return c.json(openapi(options, router.served))
  })

  serve(routes.metrics, async (c, read) => {
    const { token, collect } = options.metrics ?? {}
    if (token === undefined) throw pathNotFound('/metrics', options)
    const { headers } = await read()
    if (!timingSafeEqual(headers.authorization ?? '', `Bearer ${token}`))
      throw requestError('request.principal', 'The path /metrics needs its own token. Send it as a bearer token.')
    const more = (await collect?.()) ?? ''
    return c.text(metrics.text(runs.size) + more, 200, { 'content-type': 'text/plain; version=0.0.4' })
  })
}
