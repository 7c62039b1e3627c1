import { AlliumError, type ErrorCode, messageOf } from '@allium/core'

/** How an error of the client is told. The server's begin with a word: https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors */
export function told(error: unknown): unknown {
  if (error instanceof AlliumError) return error
  const why = messageOf(error)
  const [, code, what] = kinds.find(([words]) => words.test(why)) ?? lost
  return new AlliumError(code, `Redis ${what}: ${why.replace(/\.$/, '')}.`, { cause: error })
}

const lost: Kind = [/./, 'store.unavailable', 'could not be asked']

type Kind = readonly [words: RegExp, code: ErrorCode, what: string]
const kinds: readonly Kind[] = [
  [/^OOM /, 'store.full', 'has no room in its memory'],
  [/^(READONLY|MISCONF) /, 'store.readonly', 'may not be written'],
  [/^WRONGTYPE /, 'store.corrupt', 'holds something else under the key'],
]
