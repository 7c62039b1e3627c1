import { binaryOf } from './base64.ts'
import type { Message } from './message.ts'

/** Copies a JSON-like value: plain objects, arrays, maps and sets are new, everything else (bytes, URLs, dates) is shared. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneJson) as T
  if (value instanceof Map) return new Map(cloneJson([...value])) as T
  if (value instanceof Set) return new Set(cloneJson([...value])) as T
  if (!isPlainObject(value)) return value
  // A spread copies all fields at once, and few of them are nested.
  const copy: Record<string, unknown> = { ...(value as Record<string, unknown>) }
  for (const key in copy) {
    const inner = copy[key]
    if (key === '__proto__') delete copy[key]
    else if (typeof inner === 'object' && inner !== null) copy[key] = cloneJson(inner)
  }
  return copy as T
}

/** Freezes a JSON-like value deeply, and returns it. */
export function freezeJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) for (const item of value) freezeJson(item)
  else if (isPlainObject(value)) for (const key in value) freezeJson(value[key])
  else return value
  return Object.freeze(value)
}

/** Whether two JSON-like values are equal. An absent field equals an undefined one. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  for (const key of Object.keys(left)) if (!equalJson(left[key], right[key])) return false
  for (const key of Object.keys(right)) if (right[key] !== undefined && left[key] === undefined) return false
  return true
}

/** Serializes JSON with sorted keys, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => ordered(item)) ?? 'null'
}

/** Whether a key would reach a prototype instead of the object. */
export function isReservedKey(key: PropertyKey): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype'
}

function ordered(item: unknown): unknown {
  if (item instanceof Uint8Array) return { bytes: binaryOf(item) }
  return isRecord(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item
}

/** Whether a value is an object, and not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a deep copy of a message. Bytes and URLs are shared. */
export function copyMessage(message: Message): Message {
  return typeof message.content === 'string' ? { ...message } : cloneJson(message)
}

/** Returns undefined for a text that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether JSON shows nothing of an object, as of a stream, an iterator, a promise or a response. */
export function isOpaque(value: object): boolean {
  return Symbol.asyncIterator in value || (!isPlainObject(value) && Object.keys(value).length === 0)
}

/** Whether a value is an object literal, of any realm, or has no prototype. Class instances are not plain. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
