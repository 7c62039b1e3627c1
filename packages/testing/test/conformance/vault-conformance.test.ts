import { describe, expect, it } from 'vitest'
import { type Vault, vaultCases, vaultConformance } from '../../src/index.ts'
import { expectToFail } from './expect-to-fail.ts'
import { memoryVault } from './memory-values.ts'

vaultConformance({ name: 'a vault in memory', makeVault: memoryVault, describe, it })

type Breaks = (vault: Required<Vault>) => Partial<Vault>

/** Each fault that a vault may have, and the case that must find it. */
const faults: [fault: string, breaks: Breaks, found: string][] = [
  [
    'has something for everybody',
    (vault) => ({ load: async (key) => (await vault.load(key)) ?? { '[EMAIL_1]': 'x' } }),
    'has nothing for a session that was never saved',
  ],
  [
    'drops empty values',
    (vault) => ({
      save: (key, values) => vault.save(key, Object.fromEntries(Object.entries(values).filter(([, value]) => value))),
    }),
    'returns the saved values, also in other processes',
  ],
  [
    'adds to what was saved',
    (vault) => ({ save: async (key, values) => vault.save(key, { ...(await vault.load(key)), ...values }) }),
    'replaces all values of a session',
  ],
  ...[/^.*?:\[/, /,"[^"]*",/, /(?<=,"[^"]*",)"[^"]*",/, /,"[^"]*"\]$/, /^[^[]*/].map(
    (part, i): [string, Breaks, string] => [
      `leaves out a part of the key, the ${i + 1}.`,
      (vault) => ({
        load: (key) => vault.load(key.replace(part, '')),
        save: (key, values) => vault.save(key.replace(part, ''), values),
      }),
      'keeps tenants, owners, agents, sessions and layers apart, whatever their names are',
    ],
  ),
  [
    'copies late',
    (vault) => ({
      save: async (key, values) => {
        await undefined
        return vault.save(key, values)
      },
    }),
    'keeps copies, and gives copies',
  ],
  [
    'mixes those who save at once',
    (vault) => ({
      async save(key, values) {
        const before = await vault.load(key)
        await vault.save(key, before === undefined ? values : { ...values, '[ID_0]': before['[ID_0]'] ?? '' })
      },
    }),
    'has all values of one of those who save at once',
  ],
]

describe('the suite of vaults finds a vault that', () => {
  const cases = (breaks: Breaks) =>
    vaultCases(() => {
      const vault = memoryVault()
      return { ...vault, ...breaks(vault) }
    })

  it.each(faults)('%s', async (_, breaks, found) => {
    await expectToFail(cases(breaks), found)
  })

  it('has no case that no fault fails', () => {
    const found = faults.map(([, , name]) => name)
    const all = cases(() => ({})).map(({ name }) => name)
    expect(all.filter((name) => !found.includes(name))).toEqual([])
  })
})
