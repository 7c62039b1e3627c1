import { randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { KeyValue } from 'allium'
import { z } from 'zod'
import type { Principal } from './principal.ts'

export const Credentials = z.object({
  email: z.email().max(200).toLowerCase(),
  password: z.string().min(10, 'The password needs at least 10 characters.').max(200),
})
export type Credentials = z.infer<typeof Credentials>

interface User extends Principal {
  salt: string
  hash: string
}

const hashOf = promisify(scrypt) as (password: string, salt: string, bytes: number) => Promise<Buffer>
const maxFailures = 5
/** Milliseconds. */
const failureWindow = 15 * 60_000

/** Users with hashed passwords, in the store. Each user has a tenant; invite others by giving them the same `tenantId`. */
export function openUsers(keyValue: KeyValue) {
  const signingUp = new Set<string>()

  return { signUp, signIn, find }

  /** Returns the new user, or undefined if the email address is taken. */
  async function signUp({ email, password }: Credentials): Promise<Principal | undefined> {
    if (signingUp.has(email)) return undefined
    signingUp.add(email)
    try {
      if ((await userOf(email)) !== undefined) return undefined
      const salt = randomBytes(16).toString('hex')
      const hash = (await hashOf(password, salt, 32)).toString('hex')
      const principal = { tenantId: randomUUID(), userId: randomUUID(), email }
      await keyValue.set(`user:${email}`, { ...principal, salt, hash } satisfies User)
      return principal
    } finally {
      signingUp.delete(email)
    }
  }

  /** Returns the user if the password is right. After five failures, it returns 'locked' for 15 minutes. */
  async function signIn({ email, password }: Credentials): Promise<Principal | 'locked' | undefined> {
    const failuresKey = `sign-in-failures:${email}`
    const failures = Number((await keyValue.get(failuresKey)) ?? 0)
    if (failures >= maxFailures) return 'locked'
    // Count before hashing, so that parallel guesses count, too.
    await keyValue.set(failuresKey, failures + 1, failureWindow)
    const user = await userOf(email)
    // Hash for an unknown address, too: the time of the answer must not reveal who has an account.
    const hash = await hashOf(password, user?.salt ?? 'unknown', 32)
    if (user === undefined || !timingSafeEqual(hash, Buffer.from(user.hash, 'hex'))) return undefined
    await keyValue.delete(failuresKey)
    return principalOf(user)
  }

  async function find(email: string): Promise<Principal | undefined> {
    const user = await userOf(email)
    return user && principalOf(user)
  }

  async function userOf(email: string): Promise<User | undefined> {
    return (await keyValue.get(`user:${email}`)) as User | undefined
  }
}

export type Users = ReturnType<typeof openUsers>

function principalOf({ tenantId, userId, email }: User): Principal {
  return { tenantId, userId, email }
}
