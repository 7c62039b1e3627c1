import { AlliumError } from './allium-error.ts'
import type { ErrorCode } from './codes.ts'
import { describe } from './describe.ts'
import { isNear, unknownName } from './nearest.ts'

/** Every key of an options type. A key that is missing here, or that the type does not have, is a compile error. */
export type KeysOf<O> = Readonly<Record<O extends unknown ? keyof O : never, true>>

type Words<S extends string> = S extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : S

/**
 * Returns the keys of a long options type, written as words. A key that is missing, or that the type does not have, is
 * a compile error.
 *
 * @example
 * const known = keysOf<RedisOptions>()('prefix eventRetention encrypt logger')
 */
export function keysOf<O>() {
  return <S extends string>(
    words: S &
      (Record<Words<S>, true> extends KeysOf<O> ? (KeysOf<O> extends Record<Words<S>, true> ? S : never) : never),
  ) => Object.fromEntries(words.split(' ').map((word) => [word, true])) as KeysOf<O>
}

/** Hints for options that belong elsewhere, by option names separated by spaces. */
export type Elsewhere = Readonly<Record<string, string>>

/**
 * Throws if an options object has a key that its type does not have, because the option would silently do nothing.
 * Class instances may have extra keys. Runs at each call, so it allocates nothing unless it throws.
 *
 * @param what the subject of the error message, such as `server()`
 * @example
 * const known: KeysOf<RedisOptions> = { prefix: true, eventRetention: true, encrypt: true, logger: true }
 * checkOptions(options, known, 'redis()', 'agent.options')
 */
export function checkOptions(
  options: unknown,
  known: Readonly<Record<string, true>>,
  what: string,
  code: ErrorCode,
  elsewhere?: Elsewhere,
): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new AlliumError(code, `${what} takes an object of options, not ${describe(options)}.`)
  const prototype: unknown = Object.getPrototypeOf(options)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return
  for (const name in options)
    if (known[name] !== true) throw unknownOption(name, Object.keys(known), what, code, elsewhere ?? {})
}

function unknownOption(
  name: string,
  known: readonly string[],
  what: string,
  code: ErrorCode,
  elsewhere: Elsewhere,
): AlliumError {
  const hint = hintFor(name, elsewhere, !isNear(name, known))
  return new AlliumError(code, `${what} does not know the option ${name}. ${hint ?? unknownName(name, known)}`, {
    details: { option: name },
  })
}

/** @param isFar whether no known option is one edit away, so that a hint for a misspelled name helps more */
function hintFor(name: string, elsewhere: Elsewhere, isFar: boolean): string | undefined {
  for (const [names, hint] of Object.entries(elsewhere)) {
    const other = names.split(' ').find((one) => one === name || (isFar && isNear(name, [one])))
    if (other !== undefined) return other === name ? hint : `Did you mean "${other}"? ${hint}`
  }
  return undefined
}

/** Returns the error for an invalid time limit in milliseconds, or undefined for a valid one. `false` means no limit. */
export function boundFault(option: string, value: unknown, code: ErrorCode): AlliumError | undefined {
  if (value === false || (typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY)) return undefined
  return new AlliumError(
    code,
    `The option ${option} must be a number of milliseconds above 0, or false, not ${describe(value)}.`,
  )
}
