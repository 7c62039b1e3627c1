import { durable } from '@allium/durable'
import { type Server, server } from '@allium/server'
import { memory } from '@allium/server/memory'
import { Hono } from 'hono'
import { csrf } from 'hono/csrf'
import { secureHeaders } from 'hono/secure-headers'
import type { Accounts } from './accounts.ts'
import { adminRoutes } from './admin.ts'
import { createSupport } from './agent.ts'
import { openBilling } from './billing.ts'
import type { Models } from './model.ts'
import { keepOnions } from './onions.ts'
import { type Pages, pageRoutes } from './pages.ts'
import { profile } from './profile.ts'
import { signInRoutes } from './sign-in.ts'
import type { Store } from './store.ts'

export interface AppOptions {
  store: Store
  accounts: Accounts
  models: Models
  pages: Pages
  /** Signs cookies and approvals. All processes share it. */
  secret: string
  /** The address that browsers use, such as `https://support.acme.com`. @default this machine only */
  publicUrl?: URL | undefined
  /** Whether another process continues the runs of a lost one. The store must encrypt, because the agent redacts. */
  isDurable?: boolean | undefined
}

/** Creates the app: sign-in, pages, the agent's API and the admin API. Pass it to `serve()`. */
export async function createApp({ store, accounts, models, pages, secret, publicUrl, isDurable }: AppOptions) {
  const { group, agents, onion } = createSupport({ store, secret, resolveModel: models.resolve })
  await group.init()
  for (const agent of agents) keepOnions(agent, onion, store.keyValue)
  const billing = openBilling(store)

  const app = new Hono()
  app.use(secureHeaders({ contentSecurityPolicy, referrerPolicy: 'no-referrer', strictTransportSecurity: false }))
  app.use(csrf(publicUrl && { origin: publicUrl.origin }))
  const { principalOf } = signInRoutes(app, {
    ...{ accounts, secret, keyValue: store.keyValue },
    secure: publicUrl?.protocol === 'https:',
  })
  const hosts = publicUrl && { hosts: [publicUrl.host] }
  const resolvePrincipal = ({ tenant, owner }: { tenant: string; owner: string }) => accounts.find(tenant, owner)
  const ai: Server = server(group, {
    principal: principalOf,
    secret,
    resolvePrincipal,
    ...(isDurable && { durable: durable(group, { store, resolvePrincipal }) }),
    base: '/api',
    // Lets the page show which agent answers.
    state: ['tools:handoff'],
    memory: memory({ blocks: [profile] }),
    uiStream: 7,
    openai: true,
    ...hosts,
  })
  app.all('/api/*', (c) => ai.fetch(c.req.raw))
  app.route('/admin/api', adminRoutes({ agent: group.name, store, billing, principalOf }))
  pageRoutes(app, pages)
  app.notFound((c) => c.json({ code: 'route.not_found', message: 'This path does not exist.' }, 404))

  const made: Server = { ...ai, fetch: async (request) => app.fetch(request) }
  return {
    server: made,
    billing,
    async close() {
      await ai.drain()
      await group.dispose()
    },
  }
}

/** A page may load its own files, and images that are part of a message. */
const contentSecurityPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
}
