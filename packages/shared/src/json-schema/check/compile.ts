import { AlliumError } from '@allium/core'
import { maxPatternsLength, maxPatternsSize } from '../limits.ts'
import { Pattern, type Re2 } from '../pattern/pattern.ts'
import { Unsupported } from '../pattern/unsupported.ts'
import { isObject, type JsonObject } from './json.ts'
import { type Check, type Compiler, type Keyword, unknown, valid } from './keyword.ts'
import { byCost, isAnnotation, keywords } from './keywords.ts'
import { resolvePointer } from './reference.ts'
import { every, failure } from './verdict.ts'

export interface Compiled {
  readonly check: Check
  /** The parts that are not checked, each once. */
  readonly unchecked: readonly string[]
}

export interface CompileOptions {
  readonly maxSubschemas: number
  /** Whether an inner schema has an `$id`. References may be relative to it, so they are not checked. */
  readonly hasInnerIds: boolean
  /** Matches the patterns. @default none: a pattern is an error */
  readonly re2?: Re2 | undefined
}

/** Compiles a schema to a check. It generates no code: each keyword is a function that counts its steps. */
export function compile(schema: unknown, options: CompileOptions): Compiled {
  const compilation = new Compilation(schema, options)
  const check = compilation.inner(schema)
  compilation.finish()
  return { check, unchecked: [...compilation.unchecked] }
}

class Compilation implements Compiler {
  readonly unchecked = new Set<string>()
  readonly #root: unknown
  readonly #options: CompileOptions
  readonly #checks = new Map<object, Check>()
  readonly #patterns = new Map<string, Pattern | undefined>()
  /** Schemas of references. They are compiled last, because they may refer back. */
  readonly #references: object[] = []
  #patternsSize = 0
  #patternsLength = 0

  constructor(root: unknown, options: CompileOptions) {
    this.#root = root
    this.#options = options
  }

  finish(): void {
    for (let next = this.#references.pop(); next !== undefined; next = this.#references.pop()) this.inner(next)
  }

  inner(schema: unknown): Check {
    if (schema === true) return valid
    if (schema === false) return refuse
    if (!isObject(schema)) {
      this.unchecked.add('a value in the place of a schema')
      return unknown
    }
    const cached = this.#checks.get(schema)
    if (cached !== undefined) return cached
    const { maxSubschemas } = this.#options
    if (this.#checks.size >= maxSubschemas)
      throw new AlliumError(
        'schema.limits',
        `The JSON Schema has more than ${maxSubschemas} schemas in it. Send a smaller one.`,
      )
    // Set before its keywords are read, because one of them may refer back to it.
    this.#checks.set(schema, unknown)
    const check = this.#checkOf(schema)
    this.#checks.set(schema, check)
    return check
  }

  resolve(reference: string): Check | undefined {
    const target = resolvePointer(this.#root, reference)
    if (typeof target === 'boolean') return this.inner(target)
    if (!isObject(target)) return undefined
    if (!this.#checks.has(target)) this.#references.push(target)
    return (value, budget) => (this.#checks.get(target) ?? unknown)(value, budget)
  }

  pattern(source: string): Pattern | undefined {
    if (!this.#patterns.has(source)) this.#patterns.set(source, this.#patternOf(source))
    return this.#patterns.get(source)
  }

  #checkOf(schema: JsonObject): Check {
    const names = Object.keys(schema).filter((name) => !isAnnotation(name))
    const checks = names.sort(byCost).map((name) => this.#keyword(name, keywords.get(name), schema))
    return (value, budget) => {
      budget.enter()
      budget.consume(checks.length)
      const verdict = every(checks, (check) => check(value, budget))
      budget.leave()
      return verdict
    }
  }

  #keyword(name: string, keyword: Keyword | undefined, schema: JsonObject): Check {
    const value = schema[name]
    const isElsewhere = name === '$ref' && this.#options.hasInnerIds
    return (isElsewhere ? undefined : keyword?.(value, schema, this)) ?? this.#skipKeyword(name, value)
  }

  #skipKeyword(name: string, value: unknown): Check {
    const isText = typeof value === 'string'
    // An unsupported pattern was already recorded with its text.
    if (!(name === 'pattern' && isText))
      this.unchecked.add(`the keyword ${quote(name)}${isText ? ` with ${quote(value)}` : ''}`)
    return unknown
  }

  #patternOf(source: string): Pattern | undefined {
    const { re2 } = this.#options
    if (re2 === undefined) throw new Error(`RE2 is not loaded, so the pattern ${quote(source)} cannot be checked.`)
    try {
      this.#patternsLength += source.length
      if (this.#patternsLength > maxPatternsLength) throw tooManySchemas()
      const pattern = new Pattern(source, re2)
      this.#patternsSize += pattern.size
      if (this.#patternsSize > maxPatternsSize) throw tooManySchemas()
      return pattern
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error
      this.unchecked.add(`the pattern ${quote(source)}: ${error.message.replace(/\.$/, '')}`)
      return undefined
    }
  }
}

function tooManySchemas(): Unsupported {
  return new Unsupported('The patterns of the schema are too large together.')
}

const refused = failure('must not be there')
const refuse: Check = (_, budget) => {
  budget.consume(1)
  return refused
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
