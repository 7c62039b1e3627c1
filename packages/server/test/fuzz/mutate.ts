import { hostile, hostileName } from './hostile.ts'
import type { Random } from './random.ts'

/** What was done to a value that fitted. */
export type Change = 'none' | 'extra' | 'missing' | 'wrong' | 'repeated'

type Holder = Record<string, unknown> | unknown[]

/**
 * Changes a value in one place, or not at all.
 *
 * @param top changes fields of the value itself, so that the route's own schema has to notice
 */
export function mutate(value: unknown, change: Change, random: Random, top: boolean): unknown {
  if (change === 'none' || typeof value !== 'object' || value === null) return value
  const copy = structuredClone(value) as Holder
  const holder = top ? copy : random.pick(holdersIn(copy))
  const keys = Object.keys(holder)
  const key = random.pick(keys.length === 0 ? ['x'] : keys)
  if (change === 'extra') set(holder, hostileName(random), hostile(random))
  if (change === 'missing') delete (holder as Record<string, unknown>)[key]
  if (change === 'wrong') set(holder, key, hostile(random))
  if (change === 'repeated' && Array.isArray(holder)) holder.push(...Array.from({ length: 2000 }, () => holder[0] ?? 0))
  return copy
}

function set(holder: Holder, key: string, value: unknown): void {
  Object.defineProperty(holder, Array.isArray(holder) ? 0 : key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

function holdersIn(value: unknown): Holder[] {
  if (typeof value !== 'object' || value === null) return []
  return [value as Holder, ...Object.values(value).flatMap(holdersIn)]
}
