import { nearestFirst, unknownName } from '@allium/core/internal'
import { z } from 'zod'
import { hookNames } from '../contexts.ts'
import type { AgentConfig } from '../define-config.ts'
import { knownKeys } from './known-keys.ts'
import { mistake, type Path, type Source } from './source.ts'

/** Limited to the maximum of a timer; a longer one would fire immediately. */
export const milliseconds = z.int().min(1).max(2_147_483_647)
const list = z.array(z.unknown())
const texts = z.record(z.string(), z.string())
/** The requests that a server may make during a call. */
const mcpRequests = {
  elicitation: z.union([z.boolean(), z.strictObject({ expiresIn: milliseconds.optional() })]).optional(),
  sampling: z
    .union([
      z.boolean(),
      z.strictObject({
        model: z.string().min(1).optional(),
        maxOutputTokens: z.int().min(1).optional(),
        perCall: z.int().min(1).optional(),
      }),
    ])
    .optional(),
}
const server = z.union([
  z.strictObject({
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    env: texts.optional(),
    ...mcpRequests,
  }),
  z.strictObject({
    url: z.url(),
    headers: texts.optional(),
    perPrincipal: z.boolean().optional(),
    listWith: z.strictObject({ headers: texts }).optional(),
    maxConnections: z.int().min(1).optional(),
    ...mcpRequests,
  }),
])
const agent = z.strictObject({
  name: z.string().min(1).optional(),
  model: z.custom(isModel, 'expected a text such as "anthropic/claude-sonnet-4-6"').optional(),
  instructions: z.custom((value) => ['string', 'function'].includes(typeof value), 'expected a text').optional(),
  thinking: z.enum(['low', 'medium', 'high']).optional(),
  maxIterations: z.int().min(1).optional(),
  tools: list.optional(),
  mcp: z.record(z.string().regex(/^[\w-]+$/), server).optional(),
  use: list.optional(),
  middleware: z.strictObject(Object.fromEntries(hookNames.map((name) => [name, list.optional()]))).optional(),
})
const config = z.strictObject({ agent: agent.optional(), toolTimeout: milliseconds.optional() })

/** A config with known keys and values of the right types. Entries of hooks and packs are checked later. */
export interface Shape {
  agent: Omit<AgentConfig, 'middleware' | 'use' | 'tools'> & {
    tools?: readonly unknown[]
    use?: readonly unknown[]
    middleware?: Readonly<Record<string, readonly unknown[] | undefined>>
  }
  toolTimeout?: number
}

/** @throws AlliumError `config.invalid`, with what was expected */
export function checkShape(source: Source): Shape {
  const data = withoutNulls(source.data, 3) ?? {}
  const parsed = config.safeParse(data)
  if (!parsed.success) throw issueMistake(source, parsed.error.issues[0] as z.core.$ZodIssue, [], data, config)
  return { agent: {}, ...parsed.data } as Shape
}

/** Returns the error for an issue that a schema found below a path. */
export function issueMistake(
  source: Source,
  issue: z.core.$ZodIssue,
  childPath: Path,
  data: unknown,
  schema: z.core.$ZodType,
): Error {
  const inner = deepest(issue)
  const path = [...childPath, ...(inner.path as (string | number)[])]
  if (inner.code === 'unrecognized_keys') {
    const [key = ''] = inner.keys
    const knownNames = knownKeys(schema, inner.path)
    const problem = `is not known. ${unknownName(key, knownNames)} Check its spelling and its indentation.`
    return mistake(source, 'config.invalid', path, problem, {
      key,
      expected: `one of ${nearestFirst(key, knownNames).join(', ')}`,
    })
  }
  const expected = inner.message.replace(/^Invalid (input|option): /, '')
  const given =
    source.written(path) ??
    describe(inner.path.reduce((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], data))
  return mistake(source, 'config.invalid', path, `is ${given}: ${expected}.`, { expected })
}

/** Returns the branch of a union that matched furthest. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue
  const issues = issue.errors.flat().map((inner) => deepest({ ...inner, path: [...issue.path, ...inner.path] }))
  return issues.sort((a, b) => b.path.length - a.path.length)[0] ?? issue
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'a map' : String(value)
}

function isModel(value: unknown): boolean {
  return typeof value === 'string' || typeof (value as { stream?: unknown } | null)?.stream === 'function'
}

/** Treats a key without a value as absent. */
function withoutNulls(value: unknown, depth: number): unknown {
  if (value === null) return undefined
  if (depth === 0 || typeof value !== 'object' || Array.isArray(value)) return value
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([key, field]) => [key, withoutNulls(field, depth - 1)]),
  )
}
