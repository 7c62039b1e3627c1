import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type ConformanceCase, casesOf, register, type TestFunctions } from '../cases.ts'
import { type Vault, vaultCaseList } from './vault-cases.ts'

/** Creates an empty vault for one case. */
export type MakeVault = () => Vault | Promise<Vault>

export interface VaultConformanceOptions {
  /** Opens the same vault again, as another process would. @default the vault itself */
  reopen?(vault: Vault): Vault | Promise<Vault>
  /** Closes everything that a case has opened. */
  close?(vault: Vault): unknown
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

const known: KeysOf<VaultConformanceOptions> = { reopen: true, close: true, skip: true }

/**
 * Returns the rules for every vault of `guard.pii`, as cases. {@link vaultConformance} registers them. @throws TypeError when `skip` names
 * no case
 */
export function vaultCases(makeVault: MakeVault, options: VaultConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, known, 'vaultCases()', 'options.invalid')
  const { reopen, close, skip = {} } = options
  return casesOf(vaultCaseList, skip, async (run) => {
    const vault = await makeVault()
    const other = (await reopen?.(vault)) ?? vault
    try {
      await run({ vault, other })
    } finally {
      if (other !== vault) await close?.(other)
      await close?.(vault)
    }
  })
}

/**
 * Registers the suite for every vault of `guard.pii`, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * vaultConformance({ makeVault: () => sqlite(':memory:').vault, describe, it })
 */
export function vaultConformance({
  makeVault,
  name = 'a vault',
  describe,
  it,
  ...options
}: VaultConformanceOptions & TestFunctions & { makeVault: MakeVault; name?: string }): void {
  register(name, vaultCases(makeVault, options), { describe, it })
}
