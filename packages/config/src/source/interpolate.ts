import type { Env } from '../shell/environment.ts'
import type { FilledValues } from './filled-values.ts'
import type { Path } from './source.ts'

/**
 * A text with `${NAME}` and `${NAME:-default}` filled in from the environment; the default stands for an empty variable
 * too, after `-` alone only for one that is not set. `$${NAME}` is the text `${NAME}`.
 *
 * @param use is told of each variable that was filled in
 * @param fail gets what is wrong: a variable that is not set and has no default, or braces that name none
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
        `has ${match}, which names no variable. Expected \${NAME} or \${NAME:-default}; $\${…} is the text itself.`,
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

/** A text as YAML reads it without quotes, where it is a number, true or false: other text stays text. */
export function toScalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text
}

/** The same, with what was filled in noted. */
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
