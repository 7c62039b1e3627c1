import { AlliumError, type SessionKey } from '@allium/core'

/** Bytes of UTF-8 that a tenant, an owner or an id may have: what an index of all databases takes. */
const most = 2048

/** @throws AlliumError `store.key` where a database would cut the key, or take it for another */
export function checkKey<T extends SessionKey>(key: T): T {
  checkName('tenant', key.tenant)
  checkName('owner', key.owner)
  checkName('session id', key.sessionId)
  return key
}

/** The same for one text. */
export function checkName(what: string, text: string): string {
  const problem = problemOf(text)
  if (problem === undefined) return text
  throw new AlliumError('store.key', `The ${what} ${problem}. Give a plain text of at most ${most} bytes.`, {
    details: { what },
  })
}

function problemOf(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'is no text'
  if (text.includes('\0')) return 'has a NUL'
  if (!isWellFormed(text)) return 'has half a character'
  // A unit of UTF-16 has three bytes at most.
  if (text.length * 3 <= most) return undefined
  const { length } = new TextEncoder().encode(text)
  return length > most ? `has ${length} bytes` : undefined
}

function isWellFormed(text: string): boolean {
  return (text as { isWellFormed?(): boolean }).isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)
}

/**
 * For a database whose index holds several texts in one row.
 *
 * @throws AlliumError `store.key` where they have too many bytes together
 */
export function checkTogether(what: string, texts: readonly string[]): void {
  const { length } = new TextEncoder().encode(texts.join(''))
  if (length <= most) return
  throw new AlliumError(
    'store.key',
    `The ${what} have ${length} bytes together. Give plain texts of at most ${most}.`,
    {
      details: { what },
    },
  )
}
