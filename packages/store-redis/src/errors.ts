import { AlliumError, type ErrorCode, messageOf } from '@allium/core'

/**
 * Converts an error of the client. Errors of the server begin with a word:
 * https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof AlliumError) return error
  const reason = messageOf(error)
  const [, code, failure] = errorKinds.find(([words]) => words.test(reason)) ?? unreachable
  return new AlliumError(code, `Redis ${failure}: ${reason.replace(/\.$/, '')}.`, { cause: error })
}

const unreachable: ErrorKind = [/./, 'store.unavailable', 'could not be reached']

type ErrorKind = readonly [words: RegExp, code: ErrorCode, what: string]
const errorKinds: readonly ErrorKind[] = [
  [/^OOM /, 'store.full', 'is out of memory'],
  [/^(READONLY|MISCONF) /, 'store.readonly', 'is read-only'],
  [/^WRONGTYPE /, 'store.corrupt', 'has a value of another type under the key'],
]
