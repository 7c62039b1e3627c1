import type { Env } from '../shell/environment.ts'
import type { FilledValues } from './filled-values.ts'
import { filledText } from './interpolate.ts'
import { isHookEntry, mistake, type Path, type Source } from './source.ts'

/** Returns a trusted value with its texts interpolated; functions, models and layers stay unchanged. */
export function filledIn(
  source: Pick<Source, 'file' | 'at'> & { filled: FilledValues },
  value: unknown,
  env: Env,
  path: Path = [],
): unknown {
  if (isHookEntry(path)) return value
  if (typeof value === 'string')
    return filledText(value, env, path, source.filled, (problem) => mistake(source, 'config.env', path, problem))
  if (path.length > deepest) throw nestedTooDeep(source, path)
  if (Array.isArray(value)) return value.map((item, i) => filledIn(source, item, env, [...path, i]))
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, filledIn(source, field, env, [...path, key])]),
  )
}

/** Throws if data is cyclic or nested deeper than a config may be. */
export function checkDepth(source: Pick<Source, 'file' | 'at'>, value: unknown, path: Path = []): void {
  if (typeof value !== 'object' || value === null) return
  if (path.length > deepest) throw nestedTooDeep(source, path)
  for (const [key, field] of Object.entries(value))
    checkDepth(source, field, [...path, Array.isArray(value) ? Number(key) : key])
}

/** The maximum depth of a config. */
export const deepest = 50

function nestedTooDeep(source: Pick<Source, 'file' | 'at'>, path: Path): Error {
  return mistake(source, 'config.invalid', path, `is nested too deeply. A config has up to ${deepest} levels.`)
}

/** Copies an untrusted value, which must be plain data: no functions, class instances or cycles. */
export function dataOnly(source: Pick<Source, 'file' | 'at'>, value: unknown, path: Path = []): unknown {
  if (value === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof value)) return value
  if (path.length > deepest) throw nestedTooDeep(source, path)
  if (Array.isArray(value)) return value.map((item, i) => dataOnly(source, item, [...path, i]))
  if (!isPlain(value))
    throw mistake(
      source,
      'config.untrusted',
      path,
      'is not plain data. If the config object may contain code, pass { trusted: true }.',
    )
  const entries = Object.keys(value).map((key): [string, unknown] => {
    if (key === '__proto__')
      throw mistake(source, 'config.invalid', path, 'has the key "__proto__", which is not allowed. Remove it.', {
        key,
      })
    return [key, dataOnly(source, value[key], [...path, key])]
  })
  return Object.fromEntries(entries)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
