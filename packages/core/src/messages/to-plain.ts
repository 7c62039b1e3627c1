import { isOpaque, isPlainObject } from './json.ts'

/** Maximum nesting depth. */
const maxDepth = 100
/** Maximum number of values in one conversion. An object that is referenced several times counts each time. */
const maxValues = 200_000
/** Maximum total characters of text. JSON escapes a character with up to six, and V8 limits strings to 536 million. */
const maxCharacters = 64 * 1024 * 1024

/** Replacements for values that JSON does not support, where uses differ. */
export interface PlainRules {
  error(error: Error): unknown
  bytes(bytes: ArrayBuffer | ArrayBufferView): unknown
  /** Replaces a symbol or a function. */
  other(value: symbol | ((...args: never[]) => unknown)): unknown
  /** Replaces an object that throws while it is read. Without it, the error is thrown. */
  readonly unreadable?: string
  /** Called with each value that was changed, and its path of keys. `isWhole`: nothing of the value is left. */
  lost?(what: string, keys: readonly string[], isWhole: boolean): void
}

/**
 * Converts any value to plain JSON data of bounded depth and size. Equal values give equal results. A BigInt becomes its digits, NaN and
 * Infinity their names, a Map a list of `[key, value]`, a Set a list, an object with `toJSON()` the result of that, and any other class
 * instance its enumerable fields. A placeholder text replaces cycles, and values that are too deep or too large.
 */
export function toPlain(value: unknown, rules: PlainRules): unknown {
  return new Conversion(rules).convert(value)
}

class Conversion {
  readonly #rules: PlainRules
  /** The objects that contain the current value, and its path of keys. */
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
    // Before toJSON(), because that of an HTTP error may include its request with all headers.
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
    const isWhole = isOpaque(value)
    if (isWhole || !isPlainObject(value)) this.#lose(`an instance of ${classOf(value)}`, undefined, isWhole)
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

  #lose<T>(what: string, plain: T, isWhole = false): T {
    this.#rules.lost?.(what, this.#keys, isWhole)
    return plain
  }
}

/** Returns the name of an object's class, for messages. */
export function classOf(value: object): string {
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== ''
    ? name.slice(0, 60)
    : Object.prototype.toString.call(value).slice(8, -1)
}
