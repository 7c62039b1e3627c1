import { isPlain } from '../errors/plain.ts'

/** How deep a value may be. */
const maxDepth = 100
/** How many values one conversion writes: one object that is found in many places counts in each. */
const maxValues = 200_000
/** Characters of all texts together. JSON escapes one with up to six, and V8 holds texts of 536 million. */
const maxCharacters = 64 * 1024 * 1024

/** What stands for values that JSON does not have, where readers differ. */
export interface PlainRules {
  error(error: Error): unknown
  bytes(bytes: ArrayBuffer | ArrayBufferView): unknown
  /** What stands for a symbol or a function. */
  other(value: symbol | ((...args: never[]) => unknown)): unknown
  /** What stands for an object that throws while it is read. Without it the error is thrown. */
  readonly unreadable?: string
  /** Called with each value that is not what it was any more, and the keys that lead to it. */
  lost?(what: string, keys: readonly string[]): void
}

/**
 * Any value as plain JSON data, always the same for the same value, and bounded in depth and size. BigInts become their digits, NaN and
 * Infinity their names, Maps lists of `[key, value]`, Sets lists, an object with a `toJSON()` what that gives, and other instances of
 * classes their enumerable fields. A text stands for a cycle, and for what is too deep or too large.
 */
export function toPlain(value: unknown, rules: PlainRules): unknown {
  return new Conversion(rules).convert(value)
}

class Conversion {
  readonly #rules: PlainRules
  /** The objects that the value stands in, and the keys that lead to it. */
  readonly #around: object[] = []
  readonly #keys: string[] = []
  #values = 0
  #characters = 0

  constructor(rules: PlainRules) {
    this.#rules = rules
  }

  convert(value: unknown): unknown {
    if (this.#values++ >= maxValues) return this.#lose('more values than fit', '[too large]')
    switch (typeof value) {
      case 'string':
        return this.#text(value)
      case 'bigint':
        return this.#lose('a BigInt', this.#text(value.toString()))
      case 'number':
        return Number.isFinite(value) ? value : this.#lose(String(value), String(value))
      case 'symbol':
      case 'function':
        return this.#lose(`a ${typeof value}`, this.#rules.other(value as symbol))
      case 'object':
        return value === null ? null : this.#object(value)
      default:
        return value
    }
  }

  #text(text: string): string {
    this.#characters += text.length
    return this.#characters > maxCharacters ? this.#lose('more text than fits', '[too large]') : text
  }

  #object(value: object): unknown {
    if (this.#around.includes(value)) return this.#lose('a cycle', '[circular]')
    if (this.#around.length >= maxDepth) return this.#lose('more levels than fit', '[too deep]')
    this.#around.push(value)
    const depth = this.#keys.length
    try {
      return this.#members(value)
    } catch (error) {
      if (this.#rules.unreadable === undefined) throw error
      this.#keys.length = depth
      return this.#rules.unreadable
    } finally {
      this.#around.pop()
    }
  }

  #members(value: object): unknown {
    if (Array.isArray(value)) return value.map((item, i) => this.#member(String(i), item) ?? null)
    // Before toJSON(): that of an HTTP error brings its request along, with all headers.
    if (value instanceof Error) return this.#lose('an Error', this.convert(this.#rules.error(value)))
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
      return this.#lose('bytes', this.convert(this.#rules.bytes(value)))
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') {
      if (value instanceof Date) this.#lose('a Date', undefined)
      return this.convert(toJSON.call(value, ''))
    }
    if (value instanceof Map)
      return this.#lose(
        'a Map',
        [...value].map((entry, i) => this.#member(String(i), entry)),
      )
    if (value instanceof Set)
      return this.#lose(
        'a Set',
        [...value].map((item, i) => this.#member(String(i), item) ?? null),
      )
    if (!isPlain(value)) this.#lose(`an instance of ${classOf(value)}`, undefined)
    const copy: Record<string, unknown> = Object.create(null)
    for (const key of Object.keys(value)) {
      const member = this.#member(this.#text(key), (value as Record<string, unknown>)[key])
      if (member !== undefined) copy[key] = member
    }
    return copy
  }

  #member(key: string, value: unknown): unknown {
    this.#keys.push(key)
    const plain = this.convert(value)
    this.#keys.pop()
    return plain
  }

  #lose<T>(what: string, plain: T): T {
    this.#rules.lost?.(what, this.#keys)
    return plain
  }
}

/** The name of an object's class, for messages. */
export function classOf(value: object): string {
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' ? name.slice(0, 60) : 'a class'
}
