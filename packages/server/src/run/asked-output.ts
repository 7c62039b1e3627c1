import { fail } from '../http/problem.ts'

/** What the answer of a run must be: a JSON Schema of an object. */
export type AskedOutput = Readonly<Record<string, unknown>>

/** @throws AlliumError `request.invalid` for what is no such schema */
export function askedOutput(value: unknown, field: string): AskedOutput | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object' && (value as { type?: unknown }).type === 'object') return value as AskedOutput
  throw fail('request.invalid', `The field \`${field}\` is a JSON Schema of the type "object".`)
}
