import type { Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, setSignedCookie } from 'hono/cookie'
import { parseSigned } from 'hono/utils/cookie'
import type { Principal } from './principal.ts'
import { Credentials, type Users } from './users.ts'

const cookie = 'user'
/** Seconds. */
const maxAge = 7 * 24 * 60 * 60

export interface SignInOptions {
  users: Users
  /** Signs the cookie. */
  secret: string
  /** Whether browsers send the cookie over HTTPS only. */
  secure: boolean
}

/** Adds the routes to sign up, in and out. Returns the function that reads the user from a request's signed cookie. */
export function signInRoutes(app: Hono, { users, secret, secure }: SignInOptions) {
  const limit = bodyLimit({ maxSize: 4096 })

  app.post('/sign-up', limit, async (c) => {
    const credentials = await credentialsOf(c)
    if ('error' in credentials) return c.json(credentials, 400)
    const user = await users.signUp(credentials)
    if (user === undefined) return c.json({ error: 'This email address has an account. Sign in instead.' }, 409)
    return welcome(c, user)
  })

  app.post('/sign-in', limit, async (c) => {
    const credentials = await credentialsOf(c)
    if ('error' in credentials) return c.json(credentials, 400)
    const user = await users.signIn(credentials)
    if (user === 'locked') return c.json({ error: 'Too many attempts. Try again in 15 minutes.' }, 429)
    if (user === undefined) return c.json({ error: 'The email address or the password is wrong.' }, 401)
    return welcome(c, user)
  })

  app.post('/sign-out', (c) => {
    deleteCookie(c, cookie, { path: '/' })
    return c.body(null, 204)
  })

  app.get('/me', async (c) => c.json({ email: (await principalOf(c.req.raw))?.email ?? null }))

  return principalOf

  async function welcome(c: Context, { email }: Principal) {
    const value = JSON.stringify([email, Date.now() + maxAge * 1000])
    await setSignedCookie(c, cookie, value, secret, { httpOnly: true, sameSite: 'Strict', secure, path: '/', maxAge })
    return c.json({ email })
  }

  async function principalOf(request: Request): Promise<Principal | undefined> {
    const { [cookie]: value } = await parseSigned(request.headers.get('cookie') ?? '', secret, cookie)
    if (!value) return undefined
    const [email, until] = JSON.parse(value) as [string, number]
    return until > Date.now() ? users.find(email) : undefined
  }
}

async function credentialsOf(c: Context): Promise<Credentials | { error: string }> {
  const { success, data, error } = Credentials.safeParse(await c.req.json().catch(() => undefined))
  return success ? data : { error: error.issues[0]?.message ?? 'Send an email address and a password.' }
}
