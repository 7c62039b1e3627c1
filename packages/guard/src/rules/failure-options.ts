import { option } from '@allium/core'

/** The options of every guard that fails closed. To add one, declare it here and check it in `failureOptions`. */
export interface FailureOptions {
  /** What happens if the guard itself fails or takes too long: the turn is blocked, or continues unchecked. @default 'block' */
  onError?: 'block' | 'allow' | undefined
  /** The timeout of one check, in milliseconds. @default 10_000 */
  timeout?: number | undefined
  /** The reply to the user when the guard blocks. @default nothing */
  reply?: string | undefined
}

/** Their checks, which each factory spreads into its own. */
export const failureOptions: option.Declaration<FailureOptions> = {
  onError: option.oneOf('block', 'allow'),
  timeout: option.number({ above: 0 }),
  reply: option.text,
}

/** The failure settings of a guard that fails closed. */
export interface FailurePolicy {
  readonly name: string
  readonly onError: 'block' | 'allow'
  readonly timeout: number
  readonly reply: string | undefined
}

export function failurePolicy(
  name: string,
  { onError = 'block', timeout = 10_000, reply }: FailureOptions,
): FailurePolicy {
  return { name, onError, timeout, reply }
}
