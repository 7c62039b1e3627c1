import type { KeyValue } from 'allium'
import type { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, setSignedCookie } from 'hono/cookie'
import { parseSigned } from 'hono/utils/cookie'
import type { Accounts } from './accounts.ts'
import type { Principal } from './principal.ts'

const cookie = 'saas'
/** Seconds. */
const maxAge = 12 * 60 * 60
/** Bytes. A key is short, and the route needs no sign-in. */
const maxBodyBytes = 4096

export interface SignIn {
  /** Returns the caller of a request, from its cookie or its bearer API key. */
  principalOf(request: Request): Promise<Principal | undefined>
}

export interface SignInOptions {
  accounts: Accounts
  /** Remembers the cookies that were signed out, until they expire. */
  keyValue: KeyValue
  /** Signs cookies. */
  secret: string
  /** Whether cookies are sent over HTTPS only. */
  secure: boolean
}

/** Routes to sign in and out. Sign-in exchanges an API key for a signed cookie, so pages never store the key. */
export function signInRoutes(app: Hono, { accounts, keyValue, secret, secure }: SignInOptions): SignIn {
  app.post('/sign-in', bodyLimit({ maxSize: maxBodyBytes }), async (c) => {
    const { key } = (await c.req.json().catch(() => ({}))) as { key?: unknown }
    const principal = typeof key === 'string' ? accounts.byKey(key.trim()) : undefined
    if (principal === undefined) return c.json({ code: 'sign_in.unknown', message: 'This key is not known.' }, 401)
    const { tenantId, userId } = principal
    const value = JSON.stringify([tenantId, userId, Date.now() + maxAge * 1000, crypto.randomUUID()])
    await setSignedCookie(c, cookie, value, secret, { httpOnly: true, sameSite: 'Strict', secure, path: '/', maxAge })
    return c.json(shown(principal))
  })

  app.post('/sign-out', async (c) => {
    const signedIn = await cookieOf(c.req.raw)
    if (signedIn !== undefined) await keyValue.set(signedOut(signedIn.id), true, signedIn.until - Date.now())
    deleteCookie(c, cookie, { path: '/' })
    return c.body(null, 204)
  })

  app.get('/me', async (c) => {
    const principal = await principalOf(c.req.raw)
    return c.json({ me: principal === undefined ? null : shown(principal) })
  })

  return { principalOf }

  async function principalOf(request: Request): Promise<Principal | undefined> {
    const [, bearer] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
    if (bearer !== undefined) return accounts.byKey(bearer)
    const signedIn = await cookieOf(request)
    if (signedIn === undefined || (await keyValue.get(signedOut(signedIn.id)))) return undefined
    return accounts.find(signedIn.tenantId, signedIn.userId)
  }

  /** Returns the content of a cookie that is signed and has not expired. */
  async function cookieOf(request: Request) {
    const { [cookie]: value } = await parseSigned(request.headers.get('cookie') ?? '', secret, cookie)
    if (!value) return undefined
    const [tenantId, userId, until, id] = JSON.parse(value) as [string, string, number, string?]
    return until > Date.now() && id !== undefined ? { tenantId, userId, until, id } : undefined
  }
}

function signedOut(id: string): string {
  return `saas:signed-out:${id}`
}

function shown({ name, tenantId, tenant, plan, administers, reads }: Principal) {
  return { name, tenantId, tenant, plan: plan.name, administers, reads, refunds: plan.tools.includes('refund') }
}
