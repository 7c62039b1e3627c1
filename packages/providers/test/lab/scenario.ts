import type { Format } from './format.ts'
import type { Lab } from './lab.ts'

/** One column of the table. */
export interface Scenario {
  name: string
  /** What is right. */
  promise: string
  /** Whether the format can have it. @default always */
  applies?(format: Format): boolean
  /** Returns what is wrong; undefined if all is right. */
  run(lab: Lab): Promise<string | undefined>
}

/** Returns the first text whose condition holds. */
export function firstOf(...faults: readonly (readonly [boolean, string])[]): string | undefined {
  return faults.find(([wrong]) => wrong)?.[1]
}
