import { type ErrorCode, isAlliumError } from '@allium/core'
import { difference, show } from './difference.ts'

/** A violation that a case found. Runners show `actual` and `expected` as a diff. */
export class Nonconformance extends Error {
  override readonly name = 'Nonconformance'
  declare readonly actual: unknown
  declare readonly expected: unknown

  constructor(message: string, { cause, ...sides }: { cause?: unknown; actual?: unknown; expected?: unknown } = {}) {
    super(message.replace(/\.\.$/, '.'), cause === undefined ? undefined : { cause })
    Object.assign(this, sides)
  }
}

/** @param claim the rule, as a sentence without its period */
export function check(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new Nonconformance(`${claim}.`)
}

/** Compares deeply, including bytes and URLs; an undefined field equals an absent one. */
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

/** Returns the promise's value; a rejection is a violation of the rule. */
export async function checkResolves<T>(promise: Promise<T>, claim: string): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    throw new Nonconformance(`${claim}, but rejected with ${show(cause)}.`, { cause })
  }
}
