import type { ModelContext, ToolContext, TurnView } from '@allium/core'
import type { TracedScope } from '@allium/observe'
import { plainJson } from './plain-json.ts'

/** The input of a call as a layer received it or passed it on, by field. */
export type CallInput = Readonly<Record<string, unknown>>

export function inputOf(scope: TracedScope, ctx: TurnView): CallInput {
  if (scope === 'turn') return {}
  if (scope === 'tool') return { args: (ctx as ToolContext).args }
  const { model, request } = ctx as ModelContext
  return { model, ...request }
}

/** One field that differs. Lists have only the part that differs, with its index. */
export interface InputChange {
  field: string
  at?: number
  before: unknown
  after: unknown
}

export function changesBetween(before: CallInput, after: CallInput): InputChange[] {
  return Object.keys(after).flatMap((field): InputChange[] => {
    const [from, to] = [before[field], after[field]]
    if (from === to) return []
    if (Array.isArray(from) && Array.isArray(to)) return listChange(field, from, to)
    return plainJson(from) === plainJson(to) ? [] : [{ field, before: from, after: to }]
  })
}

function listChange(field: string, from: readonly unknown[], to: readonly unknown[]): InputChange[] {
  const start = commonPrefix(from, to)
  const shorter = Math.min(from.length, to.length) - start
  let end = 0
  while (end < shorter && isSame(from[from.length - 1 - end], to[to.length - 1 - end])) end++
  const [before, after] = [from.slice(start, from.length - end), to.slice(start, to.length - end)]
  return before.length === 0 && after.length === 0 ? [] : [{ field, at: start, before, after }]
}

/** Returns how many items at the start of two lists are the same. */
export function commonPrefix(a: readonly unknown[], b: readonly unknown[]): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) if (!isSame(a[index], b[index])) return index
  return length
}

/** Messages and tools are not changed in place. A copy of a message is the same message. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || jsonOf(a) === jsonOf(b)
}

const texts = new WeakMap<object, string>()

function jsonOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return plainJson(value)
  const known = texts.get(value) ?? plainJson(value)
  texts.set(value, known)
  return known
}
