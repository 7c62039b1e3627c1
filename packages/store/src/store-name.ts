import { AlliumError } from '@allium/core'
/** The maximum UTF-8 bytes of a tenant, owner or id. The indexes of all supported databases can hold this. */
export const mostNameBytes = 2048

/**
 * Checks that every store keeps a tenant, an owner or an id unchanged, and returns it.
 *
 * @throws AlliumError `store.key` if a database would truncate it, or confuse it with another one
 */
export function checkStoreName(what: string, text: string): string {
  const problem = problemOf(text)
  if (problem === undefined) return text
  throw new AlliumError('store.key', `The ${what} ${problem}. Use a string of at most ${mostNameBytes} bytes.`, {
    details: { what },
  })
}

/** Checks the names of a tenant, or of one owner in it. */
export function checkOwner<T extends { tenant: string; owner?: string | undefined }>(of: T): T {
  checkStoreName('tenant', of.tenant)
  if (of.owner !== undefined) checkStoreName('owner', of.owner)
  return of
}

function problemOf(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'is not a string'
  if (text.includes('\0')) return 'contains a NUL character'
  if (!isWellFormed(text)) return 'contains a lone surrogate'
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= mostNameBytes) return undefined
  const { length } = new TextEncoder().encode(text)
  return length > mostNameBytes ? `has ${length} bytes` : undefined
}

export function isWellFormed(text: string): boolean {
  return (text as { isWellFormed?(): boolean }).isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)
}
