import type { Env } from '../shell/environment.ts'
import type { FilledValues } from './filled-values.ts'
import type { Path } from './source.ts'

/**
 * Replaces `${NAME}` and `${NAME:-default}` in a text from the environment. The default also replaces an empty variable; after a plain
 * `-`, only an unset one. `$${NAME}` becomes the text `${NAME}`.
 *
 * @param use called for each replaced variable
 * @param fail creates the error for an unset variable without a default, or for braces without a name
 */
function interpolate(
  text: string,
  env: Env,
  use: (name: string, value: string) => void,
  fail: (problem: string) => Error,
): string {
  return text.replace(/\$(\$?)\{([^}]*)\}/g, (match, second: string, inside: string) => {
    if (second !== '') return match.slice(1)
    const [, name, dash, fallback] = /^([A-Za-z_]\w*)(?:(:?-)(.*))?$/s.exec(inside) ?? []
    if (name === undefined)
      throw fail(
        `has ${match}, which names no variable. Expected \${NAME} or \${NAME:-default}. For the literal text, write $\${…}.`,
      )
    const value = env[name]
    if (value !== undefined && (value !== '' || dash !== ':-')) {
      use(name, value)
      return value
    }
    if (fallback !== undefined) return fallback
    throw fail(`names the variable ${name}, which is not set. Set it, or give a default: \${${name}:-…}.`)
  })
}

/** Parses a text like an unquoted YAML scalar if it is a number, true or false; any other text stays a string. */
export function toScalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text
}

/** Replaces variables, and records the values. */
export function filledText(
  text: string,
  env: Env,
  path: Path,
  filled: FilledValues,
  fail: (problem: string) => Error,
): string {
  const values: Record<string, string> = {}
  const result = interpolate(text, env, (name, value) => (values[name] = value), fail)
  if (Object.keys(values).length > 0) filled.note(path, text, values)
  return result
}
