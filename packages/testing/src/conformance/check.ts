import { type ErrorCode, isAlliumError } from '@allium/core'
import { difference, show } from './difference.ts'

/** What a case of a suite found. Runners show `actual` and `expected` as a diff. */
export class Nonconformance extends Error {
  override readonly name = 'Nonconformance'
  declare readonly actual: unknown
  declare readonly expected: unknown

  constructor(message: string, { cause, ...sides }: { cause?: unknown; actual?: unknown; expected?: unknown } = {}) {
    super(message.replace(/\.\.$/, '.'), cause === undefined ? undefined : { cause })
    Object.assign(this, sides)
  }
}

/** @param claim the rule, as a sentence without its stop */
export function check(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new Nonconformance(`${claim}.`)
}

/** Deep, and strict about bytes and URLs; a field that is undefined equals an absent one. */
export function checkEqual(actual: unknown, expected: unknown, claim: string): void {
  const found = difference(actual, expected)
  if (found !== undefined) throw new Nonconformance(`${claim}. ${found}`, { actual, expected })
}

/** Fails unless the promise rejects with this code. */
export async function checkRejects(promise: Promise<unknown>, code: ErrorCode, claim: string): Promise<void> {
  let given: unknown
  try {
    given = await promise
  } catch (error) {
    if (isAlliumError(error, code)) return
    throw new Nonconformance(`${claim}: it should reject with "${code}", but rejected with ${show(error)}.`, {
      cause: error,
    })
  }
  throw new Nonconformance(`${claim}: it should reject with "${code}", but gave ${show(given)}.`)
}

/** What the promise gives; a rejection is a finding, and no accident. */
export async function checkResolves<T>(promise: Promise<T>, claim: string): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    throw new Nonconformance(`${claim}, but rejected with ${show(cause)}.`, { cause })
  }
}
