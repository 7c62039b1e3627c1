import { AlliumError } from '../errors/allium-error.ts'

/** Bytes of UTF-8 that a tenant, an owner or an id may have: what an index of all databases takes. */
export const mostNameBytes = 2048

/**
 * Returns a tenant, an owner or an id that every store keeps as it is.
 *
 * @throws AlliumError `store.key` when a database would cut it, or take it for another one
 */
export function checkStoreName(what: string, text: string): string {
  const problem = problemOf(text)
  if (problem === undefined) return text
  throw new AlliumError('store.key', `The ${what} ${problem}. Give a plain text of at most ${mostNameBytes} bytes.`, {
    details: { what },
  })
}

/** The same for those who have something in a store: a tenant, or one owner in it. */
export function checkOwner<T extends { tenant: string; owner?: string | undefined }>(of: T): T {
  checkStoreName('tenant', of.tenant)
  if (of.owner !== undefined) checkStoreName('owner', of.owner)
  return of
}

function problemOf(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'is no text'
  if (text.includes('\0')) return 'has a NUL'
  if (!isWellFormed(text)) return 'has half a character'
  // A unit of UTF-16 has three bytes at most.
  if (text.length * 3 <= mostNameBytes) return undefined
  const { length } = new TextEncoder().encode(text)
  return length > mostNameBytes ? `has ${length} bytes` : undefined
}

function isWellFormed(text: string): boolean {
  return (text as { isWellFormed?(): boolean }).isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)
}
