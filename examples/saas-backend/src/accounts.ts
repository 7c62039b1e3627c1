import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { Plan, type Principal } from './principal.ts'

const Accounts = z.object({
  tenants: z.record(z.string(), z.object({ name: z.string(), plan: z.string() })),
  people: z.array(
    z.object({
      tenant: z.string(),
      id: z.string(),
      name: z.string(),
      /** SHA-256 of the API key, as hex. A plain hash is safe because keys are long and random. */
      keyDigest: z.string().length(64),
      administers: z.array(z.string()).default([]),
      /** The tenants whose conversations they may read, after entering a reason. */
      reads: z.array(z.string()).default([]),
    }),
  ),
})

/** Finds people by API key and by name. A removed person loses access with the next request. */
export interface Accounts {
  byKey(key: string): Principal | undefined
  find(tenantId: string, userId: string): Principal | undefined
}

const dataOf = (name: string) => new URL(`../data/${name}`, import.meta.url)

/** @param file tenants and people, as in `data/accounts.json` */
export function openAccounts(file: string | URL = dataOf('accounts.json')): Accounts {
  const { tenants, people } = Accounts.parse(read(file))
  const plans = z.record(z.string(), Plan.omit({ name: true })).parse(read(dataOf('plans.json')))

  const toPrincipal = (person: (typeof people)[number] | undefined): Principal | undefined => {
    const tenant = person && tenants[person.tenant]
    const plan = tenant && plans[tenant.plan]
    if (person === undefined || tenant === undefined || plan === undefined) return undefined
    const { tenant: tenantId, id: userId, name, administers, reads } = person
    return { tenantId, tenant: tenant.name, userId, name, administers, reads, plan: { ...plan, name: tenant.plan } }
  }
  return {
    byKey: (key) => toPrincipal(people.find(({ keyDigest }) => isSame(digestOf(key), keyDigest))),
    find: (tenantId, userId) => toPrincipal(people.find(({ tenant, id }) => tenant === tenantId && id === userId)),
  }
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'))
}

function read(file: string | URL): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}
