import { maxCheckDepth } from '../limits.ts'
import { type Budget, BudgetExceeded } from './budget.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether two values are equal as JSON. @throws BudgetExceeded */
export function isEqual(a: unknown, b: unknown, budget: Budget): boolean {
  budget.consume(1)
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  return canonical(a, budget) === canonical(b, budget)
}

/** Returns a text that is the same for equal values only. @throws BudgetExceeded */
export function canonical(value: unknown, budget: Budget, depth = 0): string {
  if (depth > maxCheckDepth)
    throw new BudgetExceeded(`cannot be compared: it nests more than ${maxCheckDepth} levels deep`)
  budget.consume(3)
  if (typeof value === 'string') {
    budget.consume(value.length / 16)
    return JSON.stringify(value)
  }
  if (typeof value !== 'object' || value === null) return value === 0 ? '0' : String(value)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, budget, depth + 1)).join(',')}]`
  const keys = Object.keys(value).sort()
  budget.consume(keys.length * 6)
  const members = keys.map(
    (key) => `${JSON.stringify(key)}:${canonical((value as JsonObject)[key], budget, depth + 1)}`,
  )
  return `{${members.join(',')}}`
}

/** Returns the length of a text in code points, as JSON Schema counts it. */
export function characters(text: string, budget: Budget): number {
  budget.consume(text.length / 16)
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--
      i++
    }
  }
  return count
}
