import type { ListRunsOptions } from '@allium/durable/operations'
import { UsageError } from '../exit-codes.ts'

/** The conditions by which runs are chosen. */
export type Conditions = Omit<ListRunsOptions, 'cursor' | 'limit'>

const names = ['tenant', 'status', 'agent', 'version', 'queue', 'owner', 'session', 'code', 'older-than'] as const
type ConditionName = (typeof names)[number]

/** Returns the conditions of options such as `--status failed`, and of `--where status=failed`. @throws UsageError */
export function conditionsOf(
  values: Readonly<Partial<Record<ConditionName, string | undefined>>>,
  where: readonly string[] = [],
): Conditions {
  const given = new Map<ConditionName, string>()
  const add = (name: ConditionName, value: string) => {
    if (given.has(name)) throw new UsageError(`The condition "${name}" was given twice.`)
    given.set(name, value)
  }
  for (const name of names) if (values[name] !== undefined) add(name, values[name])
  for (const text of where) {
    const [, name = '', value = ''] = /^([a-z-]+)=(.+)$/s.exec(text) ?? []
    if (!isName(name)) throw new UsageError(`--where is "${text}". Give name=value with one of ${names.join(', ')}.`)
    add(name, value)
  }
  const { 'older-than': age, status, ...texts } = Object.fromEntries(given) as Partial<Record<ConditionName, string>>
  return {
    ...texts,
    ...(status !== undefined && { status: status as NonNullable<Conditions['status']> }),
    ...(age !== undefined && { olderThan: milliseconds(age) }),
  }
}

function isName(name: string): name is ConditionName {
  return (names as readonly string[]).includes(name)
}

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function milliseconds(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (number === undefined) throw new UsageError(`--older-than is "${text}". Give a time such as 30s, 10m, 2h or 7d.`)
  return Number(number) * units[unit as keyof typeof units]
}
