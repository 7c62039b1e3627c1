import type { Env } from '../shell/environment.ts'

/**
 * A text with `${NAME}` and `${NAME:-default}` filled in from the environment; the default stands for an empty variable
 * too, after `-` alone only for one that is not set. `$${NAME}` is the text `${NAME}`.
 *
 * @param fail gets what is wrong: a variable that is not set and has no default, or braces that name none
 */
export function interpolate(text: string, env: Env, fail: (what: string) => Error): string {
  return text.replace(/\$(\$?)\{([^}]*)\}/g, (whole, second: string, inside: string) => {
    if (second !== '') return whole.slice(1)
    const [, name, dash, fallback] = /^([A-Za-z_]\w*)(?:(:?-)(.*))?$/s.exec(inside) ?? []
    if (name === undefined)
      throw fail(
        `has ${whole}, which names no variable. Expected \${NAME} or \${NAME:-default}; $\${…} is the text itself.`,
      )
    const value = env[name]
    if (value !== undefined && (value !== '' || dash !== ':-')) return value
    if (fallback !== undefined) return fallback
    throw fail(`names the variable ${name}, which is not set. Set it, or give a default: \${${name}:-…}.`)
  })
}

/** A text as YAML reads it without quotes, where it is a number, true or false: other text stays text. */
export function toScalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text
}
