import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf } from 'allium'
import { UsageError } from './exit-codes.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const help = { type: 'boolean', short: 'h' } as const

/** What all commands take that read recordings. */
export const recordedOptions = {
  ...{ store: text, since: text, until: text, tenant: text, agent: text, export: text },
  ...{ json: flag, help },
} as const

type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ args: string[]; allowPositionals: true; options: O }>>
type Options = NonNullable<ParseArgsConfig['options']>

/** @throws UsageError */
export function parsed<O extends Options>(argv: readonly string[], options: O): Parsed<O> {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** What a report says if the store has no recording to read. */
export const noneMatches = 'No recording matches. Check --store, --agent, --tenant, --since and --until.'

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Reads an age such as 30d, or a date. Returns milliseconds since the epoch. @throws UsageError */
export function timeOf(name: string, value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(value) ?? []
  if (count !== '') return now - Number(count) * (units[unit] as number)
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?$/.exec(value) ?? []
  // `Date.parse()` makes 3 March of 31 February.
  if (Number.isFinite(Date.parse(day)) && new Date(day).toISOString().startsWith(day)) {
    const time = Date.parse(value)
    if (Number.isSafeInteger(time)) return time
  }
  throw new UsageError(`${name} is "${value}". Give an age such as 30d, 12h or 90m, or a date such as 2026-11-01.`)
}

/** @throws UsageError */
export function wholeOf(name: string, value: string | undefined, least: number): number | undefined {
  if (value === undefined) return undefined
  const count = /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(count) && count >= least) return count
  throw new UsageError(`${name} is "${value}". Give a whole number from ${least} on.`)
}
