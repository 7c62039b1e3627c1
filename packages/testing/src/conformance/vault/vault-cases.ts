import type { Writer } from '@allium/core'
import { check, checkEqual } from '../check.ts'
import { hostileNames, lookAlikes } from '../hostile-names.ts'

/** Stores the placeholders of sessions: `vault` of `guard.pii`. */
export interface Vault {
  /** @param key the layer's name and the session's key: `guard:pii:["tenant","owner","agent","session"]` */
  load(key: string): Values | undefined | Promise<Values | undefined>
  /** Saves all values of the session. */
  save(key: string, values: Values, by?: Writer): void | Promise<void>
}
type Values = Readonly<Record<string, string>>

/** The test bench of a case. `other` is the same vault as another process sees it. */
export interface VaultBench {
  vault: Vault
  other: Vault
}

/** Returns the key in the form that `guard.pii` uses. */
const keyOf = (tenant: string, owner: string, session: string, layer = 'guard:pii', agent = 'agent') =>
  `${layer}:${JSON.stringify([tenant, owner, agent, session])}`
const chat = keyOf('acme', 'ann', 'chat')

export const vaultCaseList: Readonly<Record<string, (bench: VaultBench) => Promise<void>>> = {
  async 'has nothing for a session that was never saved'({ vault, other }) {
    checkEqual(await vault.load(chat), undefined, 'load() of a session that was never saved returns undefined')
    await vault.save(chat, {})
    checkEqual((await other.load(chat)) ?? {}, {}, 'A session without values has none')
  },

  async 'returns the saved values, also in other processes'({ vault, other }) {
    const values = {
      '[EMAIL_1]': 'ann@example.com',
      '[NAME_2]': 'Zoë "👩‍👩‍👧" \u0000 \\',
      '[PHONE_1]': '',
      numbers: '[PHONE_1]',
      toString: 'own',
    }
    await vault.save(chat, values)
    for (const one of [vault, other]) checkEqual(await one.load(chat), values, 'load() returns the saved values')
  },

  async 'replaces all values of a session'({ vault, other }) {
    await vault.save(chat, { '[EMAIL_1]': 'old', '[EMAIL_2]': 'gone' })
    await other.save(chat, { '[EMAIL_1]': 'new' })
    checkEqual(await vault.load(chat), { '[EMAIL_1]': 'new' }, 'The last save replaces the others')
  },

  async 'keeps tenants, owners, agents, sessions and layers apart, whatever their names are'({ vault, other }) {
    const names = hostileNames.filter((name) => !name.includes('\u0000'))
    const keys = [
      ...names.map((name) => keyOf(name, 'ann', 'chat')),
      ...names.map((name) => keyOf('acme', name, 'chat')),
      ...names.map((name) => keyOf('acme', 'ann', name)),
      ...names.map((name) => keyOf('acme', 'ann', 'layer', name)),
      ...names.map((name) => keyOf('acme', 'ann', 'agent', 'guard:pii', name)),
      ...lookAlikes.map(([agent, id]) => keyOf('', '', id, 'guard:pii', `a${agent}`)),
      ...lookAlikes.map(([owner, id]) => keyOf('', owner, id)),
      ...lookAlikes.map(([tenant, owner]) => keyOf(tenant, owner, 'x')),
    ]
    const all = [...new Set(keys)]
    for (const [i, key] of all.entries()) await vault.save(key, { '[ID_1]': `${i}` })
    for (const [i, key] of all.entries())
      checkEqual(await other.load(key), { '[ID_1]': `${i}` }, `${key} has its own values`)
  },

  async 'keeps copies, and gives copies'({ vault }) {
    const values: Record<string, string> = { '[EMAIL_1]': 'a' }
    const saving = vault.save(chat, values)
    values['[EMAIL_1]'] = 'b'
    await saving
    const kept = (await vault.load(chat)) as Record<string, string>
    checkEqual(kept, { '[EMAIL_1]': 'a' }, 'The vault has the arguments of save()')
    kept['[EMAIL_1]'] = 'c'
    checkEqual(await vault.load(chat), { '[EMAIL_1]': 'a' }, 'A reader cannot change stored values')
  },

  async 'has all values of one of those who save at once'({ vault, other }) {
    const whole = (i: number) => Object.fromEntries(Array.from({ length: 20 }, (_, j) => [`[ID_${j}]`, `${i}`]))
    await vault.save(chat, whole(-1))
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? vault : other).save(chat, whole(i))))
    const kept = (await vault.load(chat)) ?? {}
    checkEqual(kept, whole(Number(kept['[ID_0]'])), 'The vault has the values of one of the callers')
    check(JSON.stringify(await other.load(chat)) === JSON.stringify(kept), 'All processes see the same')
  },
}
