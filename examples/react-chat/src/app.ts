import { type Server, server } from '@allium/server'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { agent } from './agent.ts'
import { buildPage } from './page.ts'

/** Serves the agent under `/api`, and the page. */
export async function createApp(): Promise<Server> {
  // All callers are the same user. In production, read the user from a signed cookie.
  const api = server(agent, { principal: () => ({ tenantId: 'demo', userId: 'you' }), base: '/api' })
  const app = new Hono()
  app.use(secureHeaders({ contentSecurityPolicy: { defaultSrc: ["'self'"], imgSrc: ["'self'", 'data:'] } }))
  app.all('/api/*', (c) => api.fetch(c.req.raw))
  for (const [path, { body, type }] of await buildPage())
    app.get(path, (c) => c.body(body, 200, { 'content-type': type, 'cache-control': 'no-cache' }))
  app.get('/favicon.ico', (c) => c.body(null, 204))
  return { ...api, fetch: async (request) => app.fetch(request) }
}
