import { type Server, server } from '@allium/server'
import type { AgentStore, KeyValue, Model } from 'allium'
import { Hono } from 'hono'
import { csrf } from 'hono/csrf'
import { secureHeaders } from 'hono/secure-headers'
import { createAssistant } from './agent.ts'
import { type Page, pageRoutes } from './page.ts'
import { signInRoutes } from './sign-in.ts'
import { openUsers } from './users.ts'

export interface AppOptions {
  model: Model | string
  /** Sessions and budgets, and the accounts of users in `keyValue`. */
  store: AgentStore & { keyValue: KeyValue }
  /** Signs cookies and approvals. */
  secret: string
  page: Page
  /** The address that browsers use. @default this machine only */
  publicUrl?: URL | undefined
}

/** Creates the app: sign-in, the agent's API at /api, and the page. */
export async function createApp({ model, store, secret, page, publicUrl }: AppOptions) {
  const agent = createAssistant({ model, store, secret })
  await agent.init()

  const app = new Hono()
  app.use(secureHeaders({ contentSecurityPolicy, referrerPolicy: 'no-referrer', strictTransportSecurity: false }))
  app.use(csrf(publicUrl && { origin: publicUrl.origin }))
  const secure = publicUrl?.protocol === 'https:'
  const principal = signInRoutes(app, { users: openUsers(store.keyValue), secret, secure })
  const hosts = publicUrl && { hosts: [publicUrl.host] }
  const api = server(agent, { principal, secret, base: '/api', ...hosts })
  app.all('/api/*', (c) => api.fetch(c.req.raw))
  pageRoutes(app, page)

  const made: Server = { ...api, fetch: async (request) => app.fetch(request) }
  return {
    server: made,
    async close() {
      await api.drain()
      await agent.dispose()
    },
  }
}

const contentSecurityPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
}
